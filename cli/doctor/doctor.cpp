#include "cli/doctor/doctor.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/check.h"
#include "cli/doctor/cells.h"
#include "cli/doctor/engines.h"
#include "cli/doctor/home_table.h"
#include "cli/doctor/limits.h"
#include "cli/doctor/running.h"
#include "cli/home_agents.h"
#include "cli/report.h"
#include "cli/supervise/home_dirs.h"
#include "cli/table.h"

namespace beige::cli {
namespace {
using nlohmann::ordered_json;

const char* WordOf(Level level) { return level == Level::kOk ? "ok" : level == Level::kWarn ? "warn" : "fail"; }

// Views and cells are tried in a home with all its directories. Where there is none (or it is somebody else's), a throw-away one beside
// the real place will do: what matters is the machine.
class TrialHome {
 public:
  explicit TrialHome(const HomePaths& real) : paths_(real) {
    if (IsMine(real.DataGateway()) && IsMine(real.DataOperator()) && IsMine(real.RunDir())) return;
    char name[] = "/tmp/beige-doctor-XXXXXX";
    if (::mkdtemp(name) == nullptr) return;
    made_ = name;
    paths_ = HomePaths(made_);
    static_cast<void>(PrepareHome(paths_));
  }
  ~TrialHome() {
    if (!made_.empty()) static_cast<void>(RemoveTree(made_));
  }
  TrialHome(const TrialHome&) = delete;
  TrialHome& operator=(const TrialHome&) = delete;
  const HomePaths& paths() const { return paths_; }

 private:
  // Not even root may use another user's directories in a view, where it has no capability.
  static bool IsMine(const std::string& directory) {
    struct stat info {};
    return ::stat(directory.c_str(), &info) == 0 && info.st_uid == ::geteuid();
  }
  HomePaths paths_;
  std::string made_;
};

OperatorConfig ReadOperatorConfig(const HomePaths& paths) {
  const auto text = ReadFileIfExists(paths.OperatorYaml());
  if (!text || !*text) return {};
  auto loaded = LoadOperatorConfig(**text, paths.OperatorYaml(), AnyEnv());
  return loaded.value ? *loaded.value : OperatorConfig{};
}

void CheckConfig(const HomePaths& paths, Findings& out) {
  if (!Exists(paths.home())) {
    out.push_back(Warn("home", paths.home() + ": no such directory", "make one with 'beige init', or choose another with --home"));
    return;
  }
  const HomeCheck check = CheckHome(paths, AnyEnv());
  for (const auto& problem : check.problems) {
    // An invalid Agent is one agent's trouble; without the other two files a process does not start.
    const bool agents = problem.file.starts_with(paths.AgentsDir());
    out.push_back({"config", agents ? Level::kWarn : Level::kFail, problem.ToString(), "mend it; 'beige config check' shows everything"});
  }
  for (const auto& warning : check.warnings) out.push_back(Warn("config", warning, "add it to gateway.yaml, or take it out of the Agent"));
  if (check.problems.empty() && check.warnings.empty()) out.push_back(Ok("config", std::to_string(check.files) + (check.files == 1 ? " file is valid" : " files are valid")));
}

void Append(Findings& to, Findings from) { std::move(from.begin(), from.end(), std::back_inserter(to)); }

struct Diagnosis {
  PrivilegeSplit split;
  CellReport cells;
  EngineReport engines;
  LimitFacts limits;
  std::vector<HomePlace> places;
  RunningReport running;
  Findings findings;
  bool Can() const {
    return std::none_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.level == Level::kFail; });
  }
};

Diagnosis Diagnose(const HomePaths& paths) {
  Diagnosis d;
  const TrialHome trial(paths);
  d.running = LookAtProcesses(paths);
  const PrivilegeSplit possible = ProbePrivilegeSplit(trial.paths());
  const bool known = d.running.split.kind != "unknown";
  d.split = known ? d.running.split : possible;
  d.findings.push_back(JudgeSplit(d.split, known));
  d.cells = LookAtCells(trial.paths(), possible);
  Append(d.findings, d.cells.findings);
  d.engines = LookAtEngines(ReadOperatorConfig(paths), ProcessEnv());
  Append(d.findings, d.engines.findings);
  d.limits = ReadLimits(paths.home());
  for (const auto& view : ReadAgents(paths)) {
    ++d.limits.agents;
    d.limits.tools += view.agent.spec.tools.size();
  }
  Append(d.findings, JudgeLimits(d.limits));
  CheckConfig(paths, d.findings);
  d.places = LookAtHome(paths);
  Append(d.findings, JudgeHome(d.places));
  Append(d.findings, d.running.findings);
  return d;
}

ordered_json ToJson(const EngineLook& look) {
  ordered_json out{{"name", look.name}, {"state", look.state}, {"used", look.used}, {"socket", look.socket}};
  if (!look.message.empty()) out["message"] = look.message;
  if (look.state != "ok") return out;
  const EngineFacts& f = look.facts;
  out.update({{"version", f.version}, {"api", f.api}, {"rootless", f.rootless}, {"seccomp", f.seccomp}, {"cgroupVersion", f.cgroup}, {"runtime", f.runtime},
              {"limits", {{"memory", f.memory_limit}, {"cpu", f.cpu_limit}, {"pids", f.pids_limit}}}});
  return out;
}

std::string ToJson(const HomePaths& paths, const Diagnosis& d) {
  ordered_json out{{"home", paths.home()}, {"canRunAgents", d.Can()}, {"privilegeSplit", d.split.kind}};
  if (!d.split.reason.empty()) out["privilegeReason"] = d.split.reason;
  out["cells"] = {{"bubblewrap", d.cells.bubblewrap}, {"userNamespaces", d.cells.user_namespaces}, {"made", d.cells.made}};
  out["engines"] = ordered_json::array();
  for (const auto& look : d.engines.engines) out["engines"].push_back(ToJson(look));
  out["processes"] = {{"supervised", d.running.supervised}, {"gateway", d.running.gateway}, {"operator", d.running.operator_}};
  out["limits"] = {{"descriptors", d.limits.descriptors},
                   {"descriptorsNeeded", DescriptorsNeeded(d.limits.agents, d.limits.tools)},
                   {"inotifyInstances", d.limits.inotify_instances},
                   {"inotifyUsed", d.limits.inotify_used},
                   {"inotifyWatches", d.limits.inotify_watches},
                   {"diskFreeBytes", d.limits.disk_free}};
  out["ownership"] = ordered_json::array();
  for (const auto& place : d.places) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", place.mode);
    ordered_json entry{{"path", place.path}, {"writer", place.writer}, {"owner", place.owner}, {"mode", mode}};
    if (!place.problem.empty()) entry["problem"] = place.problem;
    out["ownership"].push_back(std::move(entry));
  }
  out["findings"] = ordered_json::array();
  for (const auto& finding : d.findings) {
    ordered_json entry{{"check", finding.check}, {"level", WordOf(finding.level)}, {"message", finding.message}};
    if (!finding.action.empty()) entry["action"] = finding.action;
    out["findings"].push_back(std::move(entry));
  }
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

// On a terminal a coloured sign stands before each line, elsewhere the word.
std::string Mark(Level level) {
  if (!WantsColour(STDOUT_FILENO)) return std::string(WordOf(level)) + std::string(level == Level::kOk ? 2 : 0, ' ');
  return level == Level::kOk ? "\033[32m✓\033[0m" : level == Level::kWarn ? "\033[33m!\033[0m" : "\033[31m✗\033[0m";
}

void PrintText(const Globals& globals, const Diagnosis& d) {
  size_t width = 0;
  for (const auto& finding : d.findings) width = std::max(width, finding.check.size());
  const std::string indent(WantsColour(STDOUT_FILENO) ? 6 : 10, ' ');
  for (const auto& finding : d.findings) {
    PrintLine(Mark(finding.level) + (WantsColour(STDOUT_FILENO) ? "  " : "   ") + finding.check + std::string(width - finding.check.size() + 3, ' ') + Printable(finding.message));
    if (!finding.action.empty()) PrintLine(indent + std::string(width, ' ') + "to do: " + Printable(finding.action));
  }
  if (globals.output == Output::kWide && !d.places.empty()) {
    Table table({"PLACE", "WRITTEN BY", "OWNER", "MODE", "PROBLEM"});
    for (const auto& place : d.places) {
      char mode[8];
      std::snprintf(mode, sizeof mode, "%04o", place.mode);
      table.Add({place.path, place.writer, place.owner, mode, place.problem.empty() ? "-" : place.problem});
    }
    Print("\n" + table.Render());
  }
}
}  // namespace

int RunDoctor(const Globals& globals) {
  const HomePaths paths = globals.paths();
  const Diagnosis d = Diagnose(paths);
  if (globals.structured()) {
    PrintStructured(globals, ToJson(paths, d));
  } else {
    PrintText(globals, d);
  }
  if (d.Can()) return kDone;
  if (!globals.structured()) PrintError("doctor", "agents can't run yet: see the lines with fail, and what to do beneath them");
  return kFailed;
}

}  // namespace beige::cli
