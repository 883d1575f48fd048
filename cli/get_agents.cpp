#include "cli/get_agents.h"

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "cli/home_agents.h"
#include "cli/processes.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/watch.h"

namespace beige::cli {
namespace {
std::vector<AgentView> Select(const Globals& globals, const GetOptions& options) {
  std::vector<AgentView> views = ReadAgents(globals.paths());
  std::erase_if(views, [&](const AgentView& view) {
    const auto& metadata = view.agent.metadata;
    if (!globals.all_namespaces && metadata.namespace_ != globals.namespace_) return true;
    return !options.names.empty() && std::find(options.names.begin(), options.names.end(), metadata.name) == options.names.end();
  });
  return views;
}

std::vector<std::string> Header(const Globals& globals) {
  std::vector<std::string> header = {"NAME", "READY", "REASON", "IMAGE", "RESTARTS", "AGE"};
  if (globals.output == Output::kWide) header.insert(header.end(), {"RUNTIME", "SANDBOX", "GENERATION", "TOOLS"});
  if (globals.all_namespaces || globals.output == Output::kWide) header.insert(header.begin(), "NAMESPACE");
  return header;
}

std::vector<std::string> Row(const Globals& globals, const AgentView& view) {
  const Agent& agent = view.agent;
  const Summary summary = SummaryOf(view);
  const auto& sandbox = agent.status.sandbox;
  const std::string image = sandbox && !sandbox->image.empty() ? sandbox->image : agent.spec.sandbox.image;
  const std::string age = agent.metadata.creation_time.empty() ? "-" : Age(agent.metadata.creation_time, std::chrono::system_clock::now());
  std::vector<std::string> row = {agent.metadata.name, summary.ready, summary.reason, image.empty() ? "-" : image, std::to_string(sandbox ? sandbox->restarts : 0), age};
  if (globals.output == Output::kWide) {
    std::string tools;
    for (const auto& tool : agent.spec.tools) tools += (tools.empty() ? "" : ",") + tool.name;
    row.insert(row.end(), {sandbox ? sandbox->runtime : "-", sandbox ? sandbox->name : "-", std::to_string(agent.metadata.generation), tools.empty() ? "-" : tools});
  }
  if (globals.all_namespaces || globals.output == Output::kWide) row.insert(row.begin(), agent.metadata.namespace_);
  return row;
}

void PrintList(const Globals& globals, const std::vector<AgentView>& views, bool single) {
  const HomePaths paths = globals.paths();
  if (globals.structured()) {
    if (single) return PrintStructured(globals, ToJson(paths, views.front()));
    std::string list = "{\"items\": [";
    for (const auto& view : views) list += (list.back() == '[' ? "\n" : ",\n") + ToJson(paths, view);
    return PrintStructured(globals, list + (views.empty() ? "]}" : "\n]}"));
  }
  if (globals.output == Output::kName) {
    for (const auto& view : views) PrintLine(AgentTitle(view.agent.key()));
    return;
  }
  Table table(Header(globals));
  for (const auto& view : views) table.Add(Row(globals, view));
  Print(table.Render());
}

// One line for each agent that changed, as it changes; JSON is one object a line.
[[noreturn]] void WatchList(const Globals& globals, const GetOptions& options) {
  const HomePaths paths = globals.paths();
  Watch watch;
  std::map<AgentKey, std::string> shown;
  for (;;) {
    WatchAgents(watch, paths);
    const auto views = Select(globals, options);
    std::map<AgentKey, std::string> now;
    Table table(Header(globals));
    for (const auto& view : views) {
      const auto key = view.agent.key();
      auto row = Row(globals, view);
      const std::string json = ToJson(paths, view, -1);
      // The age column changes by itself and is no change.
      std::string state;
      if (globals.structured()) {
        state = json;
      } else {
        const size_t age = globals.all_namespaces || globals.output == Output::kWide ? 6 : 5;
        for (size_t i = 0; i < row.size(); ++i) state += i == age ? "" : row[i] + "\n";
      }
      now[key] = state;
      if (const auto it = shown.find(key); it != shown.end() && it->second == state) continue;
      if (globals.structured()) {
        PrintStructured(globals, json);
      } else if (globals.output == Output::kName) {
        PrintLine(AgentTitle(key));
      } else {
        table.Add(std::move(row));
      }
    }
    for (const auto& [key, state] : shown) {
      if (!now.contains(key) && !globals.structured()) PrintLine(AgentTitle(key) + " deleted");
    }
    if (!table.empty()) Print(table.Render(shown.empty()));
    shown = std::move(now);
    watch.Wait(std::nullopt);
  }
}
}  // namespace

int GetAgents(const Globals& globals, const GetOptions& options) {
  if (options.watch) WatchList(globals, options);
  const auto views = Select(globals, options);
  int status = kDone;
  for (const auto& name : options.names) {
    const bool found = std::any_of(views.begin(), views.end(), [&](const AgentView& view) { return view.agent.metadata.name == name; });
    if (!found) status = Report("get", kNotFound, AgentTitle(globals.Key(name)) + ": no such agent; 'beige get agents -A' lists them");
  }
  if (views.empty() && !options.names.empty()) return status;
  if (views.empty() && !globals.structured()) {
    if (globals.output != Output::kName) {
      PrintError("get", globals.all_namespaces ? "no agents; write one to " + globals.paths().AgentsDir() + " or use 'beige apply -f FILE'"
                                               : "no agents in namespace " + globals.namespace_ + "; 'beige get agents -A' lists all, 'beige apply -f FILE' adds one");
    }
    return kDone;
  }
  const auto info = ReadOperatorInfo(globals.paths());
  const bool stale = std::any_of(views.begin(), views.end(), [](const AgentView& view) { return view.has_status; });
  if (stale && (!info || !IsRunning(info->pid, kOperatorProcess)) && !globals.structured()) {
    PrintWarning("get", "the operator is not running, so this is what it last said; start it with 'beige up'");
  }
  PrintList(globals, views, options.names.size() == 1 && views.size() == 1);
  return status;
}

}  // namespace beige::cli
