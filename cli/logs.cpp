#include "cli/logs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/home_agents.h"
#include "cli/lines.h"
#include "cli/processes.h"
#include "cli/report.h"
#include "cli/table.h"

namespace beige::cli {
namespace {
using nlohmann::json;
constexpr const char* kProcesses[] = {"beige", kOperatorProcess, kGatewayProcess};

std::string Text(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::string Pad(const std::string& text, size_t width) {
  const size_t now = Width(text);
  return now < width ? text + std::string(width - now, ' ') : text;
}

LineFilter NamesAgent(const Globals& globals, const std::string& name) {
  if (name.empty()) return [](const std::string&) { return true; };
  const AgentKey key = globals.Key(name);
  return [key](const std::string& line) {
    if (line.find(key.name) == std::string::npos) return false;
    const json object = json::parse(line, nullptr, false);
    const std::string agent = object.is_object() ? Text(object, "agent") : "";
    return agent == key.ToString() || (agent == key.name && (Text(object, "namespace").empty() || Text(object, "namespace") == key.namespace_));
  };
}

struct Line {
  std::string time;
  size_t process;
  std::string text;
};

void PrintLogLine(const Globals& globals, size_t process, const std::string& line) {
  PrintLine(globals.output == Output::kJson ? line : FormatLogLine(kProcesses[process], line));
}

void PrintEvent(const Globals& globals, const std::string& line) { PrintLine(globals.output == Output::kJson ? line : FormatEvent(line)); }

std::vector<std::string> EventFiles(const HomePaths& paths) { return {paths.EventsFile() + ".1", paths.EventsFile()}; }
}  // namespace

std::string FormatLogLine(const std::string& process, const std::string& line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return Pad(process, 14) + "  " + Printable(line);
  std::string out = Pad(Text(object, "ts"), 24) + "  " + Pad(process, 14) + "  " + Pad(Text(object, "level"), 5) + "  " + Text(object, "msg");
  for (const auto& [key, value] : object.items()) {
    if (key == "ts" || key == "level" || key == "component" || key == "msg") continue;
    out += " " + key + "=" + value.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  return Printable(out);
}

int RunLogs(const Globals& globals, const LogsOptions& options) {
  const HomePaths paths = globals.paths();
  const LineFilter filter = NamesAgent(globals, options.name);
  std::vector<Line> lines;
  std::vector<LineFollower> followers;
  for (size_t i = 0; i < std::size(kProcesses); ++i) {
    const std::string file = paths.ProcessLog(kProcesses[i]);
    off_t end = 0;
    std::string last;  // a line without a time belongs to the one before it
    for (auto& text : TailLines({file + ".1", file}, static_cast<size_t>(options.lines), filter, &end)) {
      const json object = json::parse(text, nullptr, false);
      if (object.is_object() && !Text(object, "ts").empty()) last = Text(object, "ts");
      lines.push_back({last, i, std::move(text)});
    }
    followers.emplace_back(file, end);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.time < b.time; });
  const size_t count = static_cast<size_t>(options.lines);
  for (size_t i = lines.size() > count ? lines.size() - count : 0; i < lines.size(); ++i) PrintLogLine(globals, lines[i].process, lines[i].text);
  if (options.follow) {
    Follow(std::move(followers), [&](size_t process, const std::string& line) {
      if (filter(line)) PrintLogLine(globals, process, line);
    });
  }
  if (lines.empty() && options.name.empty()) {
    return Report("logs", kNotFound, paths.LogsDir() + ": no logs yet; they come with 'beige up'");
  }
  return kDone;
}

std::string FormatEvent(const std::string& line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return Printable(line);
  const std::string ns = Text(object, "namespace");
  const std::string agent = ns.empty() || ns == "default" ? Text(object, "agent") : ns + "/" + Text(object, "agent");
  return Printable(Pad(Text(object, "ts"), 24) + "  " + Pad(Text(object, "type"), 7) + "  " + Pad(Text(object, "reason"), 18) + "  " + Pad(agent, 16) + "  " +
                   Text(object, "message"));
}

std::vector<std::string> EventsOf(const HomePaths& paths, const AgentKey& key, size_t count) {
  Globals globals;
  globals.namespace_ = key.namespace_;
  return TailLines(EventFiles(paths), count, NamesAgent(globals, key.name));
}

int RunEvents(const Globals& globals, const EventsOptions& options) {
  const HomePaths paths = globals.paths();
  const LineFilter filter = NamesAgent(globals, options.name);
  off_t end = 0;
  const auto lines = TailLines(EventFiles(paths), static_cast<size_t>(options.lines), filter, &end);
  for (const auto& line : lines) PrintEvent(globals, line);
  if (options.watch) {
    std::vector<LineFollower> files;
    files.emplace_back(paths.EventsFile(), end);
    Follow(std::move(files), [&](size_t, const std::string& line) {
      if (filter(line)) PrintEvent(globals, line);
    });
  }
  // Of an agent that is gone its events are still told; of one that never was there is nothing to tell.
  if (lines.empty() && options.lines > 0 && !options.name.empty() && !ReadAgent(paths, globals.Key(options.name))) {
    return Report("events", kNotFound, "agent " + globals.Key(options.name).ToString() + ": no such agent, and no events of one; 'beige get agents' lists what is");
  }
  return kDone;
}

}  // namespace beige::cli
