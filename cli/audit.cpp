#include "cli/audit.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/lines.h"
#include "cli/report.h"
#include "cli/table.h"

namespace beige::cli {
namespace {
using nlohmann::json;

std::string Text(const json& record, const char* key) {
  const auto it = record.find(key);
  return it != record.end() && it->is_string() ? it->get<std::string>() : "";
}

int64_t Number(const json& record, const char* key) {
  const auto it = record.find(key);
  return it != record.end() && it->is_number_integer() ? it->get<int64_t>() : 0;
}

std::string Quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_of(" '\"\\$`\t\n;&|<>()*?") == std::string::npos;
  return plain ? word : json(word).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string Command(const json& record) {
  std::string line = Text(record, "tool");
  const auto args = record.find("args");
  if (args == record.end()) return line;
  if (args->is_array()) {
    for (const auto& arg : *args) line += " " + Quoted(arg.is_string() ? arg.get<std::string>() : arg.dump());
  } else if (args->is_object()) {
    line += " (" + std::to_string(Number(*args, "bytes")) + " bytes of arguments, not kept)";
  }
  return line;
}

std::string Micros(int64_t us) {
  if (us < 1000) return std::to_string(us) + "us";
  if (us < 1000000) return std::to_string(us / 1000) + "." + std::to_string(us / 100 % 10) + "ms";
  return std::to_string(us / 1000000) + "." + std::to_string(us / 100000 % 10) + "s";
}

std::string Ending(const json& record) {
  std::string line = Text(record, "tool") + " " + Text(record, "outcome");
  if (const auto signal = record.find("signal"); signal != record.end() && signal->is_number_integer()) {
    line += ", signal " + std::to_string(Number(record, "signal"));
  } else {
    line += ", exit " + std::to_string(Number(record, "exitCode"));
  }
  line += ", " + Micros(Number(record, "durationUs")) + ", in " + std::to_string(Number(record, "stdinBytes")) + " out " +
          std::to_string(Number(record, "stdoutBytes")) + " err " + std::to_string(Number(record, "stderrBytes"));
  if (const std::string error = Text(record, "error"); !error.empty()) line += ": " + error;
  return line;
}

std::string Pad(std::string text, size_t width) {
  const size_t now = Width(text);
  return now < width ? text + std::string(width - now, ' ') : text;
}

std::string AgentOf(const json& record) {
  const std::string ns = Text(record, "namespace");
  const std::string name = Text(record, "agent");
  return ns.empty() || ns == "default" ? name : ns + "/" + name;
}

// audit-<time>.jsonl in order of time, then audit.jsonl.
std::vector<std::string> AuditFiles(const HomePaths& paths) {
  std::vector<std::string> files;
  const auto names = ListDir(paths.LogsDir());
  for (const auto& name : names ? *names : std::vector<std::string>()) {
    if (name.starts_with("audit-") && name.ends_with(".jsonl")) files.push_back(JoinPath(paths.LogsDir(), name));
  }
  files.push_back(paths.AuditLog());
  return files;
}

LineFilter FilterOf(const Globals& globals, const std::string& agent) {
  if (agent.empty()) return [](const std::string&) { return true; };
  const size_t slash = agent.find('/');
  const std::string ns = slash == std::string::npos ? globals.namespace_ : agent.substr(0, slash);
  const std::string name = slash == std::string::npos ? agent : agent.substr(slash + 1);
  return [ns, name](const std::string& line) {
    if (line.find(name) == std::string::npos) return false;  // cheap, before the parser
    const json record = json::parse(line, nullptr, false);
    return record.is_object() && Text(record, "namespace") == ns && Text(record, "agent") == name;
  };
}

void PrintRecord(const Globals& globals, const std::string& line) {
  PrintLine(globals.output == Output::kJson ? line : FormatAuditRecord(line));
}

bool NoLog(const HomePaths& paths, const char* command, int& status) {
  if (Exists(paths.AuditLog())) return false;
  status = Report(command, kNotFound, paths.AuditLog() + ": no audit log yet; the gateway makes it when it starts ('beige up')");
  return true;
}
}  // namespace

std::string FormatAuditRecord(const std::string& line) {
  const json record = json::parse(line, nullptr, false);
  if (!record.is_object()) return Printable(line);
  const std::string event = Text(record, "event");
  std::string detail;
  std::string verdict;
  if (event == "begin") {
    verdict = Text(record, "decision");
    detail = Command(record);
    if (verdict == "deny") detail += ": " + Text(record, "reason");
  } else if (event == "end") {
    verdict = "";
    detail = Ending(record);
  } else {
    verdict = Text(record, "kind");
    detail = Text(record, "message");
  }
  return Printable(Pad(Text(record, "ts"), 24) + "  " + Pad(AgentOf(record), 16) + "  " + Pad(event, 5) + "  " + Pad(Text(record, "surface"), 6) + "  " +
                   Pad(verdict, 6) + "  " + detail + (Text(record, "id").empty() ? "" : "  [" + Text(record, "id") + "]"));
}

int RunAuditTail(const Globals& globals, const AuditTailOptions& options) {
  const HomePaths paths = globals.paths();
  int status = kDone;
  if (!options.follow && NoLog(paths, "audit tail", status)) return status;
  const LineFilter filter = FilterOf(globals, options.agent);
  off_t end = 0;
  for (const auto& line : TailLines(AuditFiles(paths), static_cast<size_t>(options.lines), filter, &end)) PrintRecord(globals, line);
  if (!options.follow) return kDone;
  std::vector<LineFollower> files;
  files.emplace_back(paths.AuditLog(), end);
  Follow(std::move(files), [&](size_t, const std::string& line) {
    if (filter(line)) PrintRecord(globals, line);
  });
  return kDone;
}

int RunAuditShow(const Globals& globals, const std::string& id) {
  const HomePaths paths = globals.paths();
  int status = kDone;
  if (NoLog(paths, "audit show", status)) return status;
  const std::string needle = "\"" + id + "\"";
  const auto lines = TailLines(AuditFiles(paths), SIZE_MAX, [&](const std::string& line) {
    if (line.find(needle) == std::string::npos) return false;
    const json record = json::parse(line, nullptr, false);
    return record.is_object() && Text(record, "id") == id;
  });
  if (lines.empty()) return Report("audit show", kNotFound, "call " + id + ": no record has this id; 'beige audit tail' shows ids in brackets");
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const auto& line : lines) items.push_back(nlohmann::ordered_json::parse(line, nullptr, false));
  const auto dump = [](const nlohmann::ordered_json& value) { return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace); };
  if (globals.structured()) {
    PrintStructured(globals, dump({{"items", items}}));
    return kDone;
  }
  for (const auto& item : items) PrintLine(dump(item));
  return kDone;
}

}  // namespace beige::cli
