#include "api/agent_names.h"
#include "base/clock.h"
#include "cli/get.h"
#include "cli/home_agents.h"
#include "cli/logs.h"
#include "cli/report.h"
#include "cli/table.h"

namespace beige::cli {
namespace {
std::string Indent(const std::string& text, const std::string& by) {
  std::string out;
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    out += by + Printable(text.substr(start, end - start)) + "\n";
    start = end + 1;
  }
  return out;
}

// What the agent left out has its default shown, so that nobody has to know it by heart.
std::string SpecText(const AgentSpec& spec) {
  std::string text = JsonToYaml(EncodeSpec(spec));
  if (text.find("pidsLimit") == std::string::npos) text += (text.ends_with('\n') ? "" : "\n") + std::string("# sandbox.pidsLimit: ") + std::to_string(spec.sandbox.pids_limit) + "\n";
  if (spec.core_tools == AgentSpec().core_tools) text += "# coreTools: read, write, patch, exec\n";
  return text;
}

void PrintHead(const HomePaths& paths, const AgentView& view) {
  const Agent& agent = view.agent;
  const Summary summary = SummaryOf(view);
  Table table({"", ""});
  table.Add({"Name:", agent.metadata.name});
  table.Add({"Namespace:", agent.metadata.namespace_});
  for (const auto& [key, value] : agent.metadata.labels) table.Add({"Label:", key + "=" + value});
  table.Add({"Ready:", summary.ready + " (" + summary.reason + (summary.message.empty() ? "" : ": " + summary.message) + ")"});
  table.Add({"UID:", agent.metadata.uid.empty() ? "-" : agent.metadata.uid});
  table.Add({"Generation:", std::to_string(agent.metadata.generation) + " (observed " + std::to_string(agent.status.observed_generation) + ", grant in force " +
                                std::to_string(agent.status.grant_generation) + ")"});
  if (const auto& s = agent.status.sandbox) {
    table.Add({"Sandbox:", s->name + " (" + s->runtime + ", " + s->id.substr(0, 12) + ")"});
    table.Add({"Image:", s->image + (s->image_digest.empty() ? "" : " @ " + s->image_digest)});
    table.Add({"Started:", s->start_time + " (" + Age(s->start_time, std::chrono::system_clock::now()) + " ago), restarts " + std::to_string(s->restarts)});
  }
  table.Add({"Defined in:", view.definition ? view.definition->file : "no file any more"});
  table.Add({"Workspace:", paths.Workspace(agent.key())});
  if (!agent.metadata.uid.empty()) table.Add({"Socket:", paths.GatewaySocket(agent.metadata.uid)});
  Print(table.Render(false));
}
}  // namespace

int RunDescribe(const Globals& globals, const std::string& name) {
  const HomePaths paths = globals.paths();
  const AgentKey key = globals.Key(name);
  const auto view = ReadAgent(paths, key);
  if (!view) return Report("describe", kNotFound, AgentTitle(key) + ": no such agent; 'beige get agents -A' lists them");
  if (globals.structured()) {
    PrintStructured(globals, ToJson(paths, *view));
    return kDone;
  }
  PrintHead(paths, *view);
  Print("\nSpec:\n" + Indent(SpecText(view->agent.spec), "  "));
  if (view->definition) {
    for (const auto& problem : view->definition->problems) PrintLine("  problem: " + Printable(problem.ToString()));
  }
  Table conditions({"  CONDITION", "STATUS", "REASON", "SINCE", "MESSAGE"});
  for (const auto& c : view->agent.status.conditions) {
    const std::string since = c.last_transition_time.empty() ? "-" : Age(c.last_transition_time, std::chrono::system_clock::now());
    conditions.Add({"  " + c.type, std::string(WordOf(kTruths, c.status)), c.reason, since, c.message});
  }
  Print("\nConditions:\n" + (conditions.empty() ? "  none yet\n" : conditions.Render()));
  Print("\nEvents:\n");
  const auto events = EventsOf(paths, key, 10);
  for (const auto& event : events) PrintLine("  " + FormatEvent(event));
  if (events.empty()) PrintLine("  none");
  return kDone;
}

}  // namespace beige::cli
