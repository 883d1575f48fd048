#include "cli/status.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "api/load.h"
#include "base/clock.h"
#include "base/files.h"
#include "cli/check.h"
#include "cli/gateway_api.h"
#include "cli/home_agents.h"
#include "cli/processes.h"
#include "cli/report.h"
#include "cli/rest.h"
#include "cli/supervise/up_lock.h"
#include "cli/table.h"

namespace beige::cli {
namespace {
struct HomeStatus {
  std::optional<pid_t> supervisor;
  SupervisorInfo up;
  GatewayInfo gateway;
  OperatorInfo operator_;
  bool gateway_runs = false;
  bool gateway_ready = false;
  std::string gateway_state;  // ready | not ready: why | not running
  bool operator_runs = false;
  size_t agents = 0;
  size_t agents_ready = 0;
  std::vector<std::string> problems;
};

// The process read the same files, so it mostly says what is there already.
void AddProblems(const std::string& who, const std::vector<std::string>& said, std::vector<std::string>& problems) {
  for (const auto& text : said) {
    const bool known = std::any_of(problems.begin(), problems.end(), [&](const auto& p) { return p.find(text) != std::string::npos || text.find(p) != std::string::npos; });
    if (!known) problems.push_back(who + ": " + text);
  }
}

void LookAtGateway(const HomePaths& paths, HomeStatus& status) {
  if (const auto info = ReadGatewayInfo(paths)) status.gateway = *info;
  status.gateway_runs = IsRunning(status.gateway.pid, kGatewayProcess);
  status.gateway_state = "not running";
  if (!status.gateway_runs) return;
  const auto answer = Get(GatewayAddress(paths, status.gateway.http_port), "/readyz", "", std::chrono::seconds(2));
  status.gateway_ready = answer && answer->status == 200;
  if (status.gateway_ready) {
    status.gateway_state = "ready";
  } else {
    status.gateway_state = "not ready: " + (answer ? "HTTP " + std::to_string(answer->status) + " " + answer->body : answer.error().message);
  }
}

HomeStatus Look(const HomePaths& paths) {
  HomeStatus status;
  status.supervisor = SupervisorOf(paths);
  if (status.supervisor) status.up = ReadSupervisorInfo(paths).value_or(SupervisorInfo{});
  LookAtGateway(paths, status);
  if (const auto info = ReadOperatorInfo(paths)) status.operator_ = *info;
  status.operator_runs = IsRunning(status.operator_.pid, kOperatorProcess);
  for (const auto& view : ReadAgents(paths)) {
    ++status.agents;
    if (SummaryOf(view).ready == "True") ++status.agents_ready;
  }
  for (const auto& problem : CheckHome(paths, AnyEnv()).problems) status.problems.push_back(problem.ToString());
  if (status.gateway_runs) AddProblems("gateway", status.gateway.problems, status.problems);
  if (status.operator_runs) AddProblems("operator", status.operator_.problems, status.problems);
  return status;
}

std::string EngineLine(const HomeStatus& status) {
  if (!status.operator_runs) return "unknown (the operator is not running)";
  const OperatorInfo& info = status.operator_;
  std::string line = info.engine_type.empty() ? "none" : info.engine_type;
  if (!info.engine_version.empty()) line += " " + info.engine_version;
  if (!info.engine_api.empty()) line += " (API " + info.engine_api + ")";
  if (!info.engine_state.empty()) line += ", " + info.engine_state;
  if (!info.engine_socket.empty()) line += ", " + info.engine_socket;
  return line;
}

std::string Since(const std::string& time) {
  const std::string age = Age(time, std::chrono::system_clock::now());
  return age == "<unknown>" ? "" : ", up for " + age;
}

std::string ToJson(const HomePaths& paths, const HomeStatus& s, int status) {
  using nlohmann::ordered_json;
  ordered_json out{{"home", paths.home()}, {"running", status == kDone}, {"privilegeSplit", s.up.privilege_split.empty() ? "unknown" : s.up.privilege_split}};
  if (!s.up.privilege_reason.empty()) out["privilegeReason"] = s.up.privilege_reason;
  out["supervisor"] = {{"running", s.supervisor.has_value()}, {"pid", s.supervisor.value_or(0)}, {"startTime", s.up.start_time}};
  out["gateway"] = {{"running", s.gateway_runs}, {"ready", s.gateway_ready}};
  if (s.gateway_runs) {
    out["gateway"].update({{"pid", s.gateway.pid}, {"version", s.gateway.version}, {"httpPort", s.gateway.http_port}, {"metricsPort", s.gateway.metrics_port}});
  }
  out["operator"] = {{"running", s.operator_runs}};
  if (s.operator_runs) {
    out["operator"].update({{"pid", s.operator_.pid}, {"version", s.operator_.version}, {"metricsPort", s.operator_.metrics_port}});
    out["engine"] = {{"type", s.operator_.engine_type},   {"version", s.operator_.engine_version}, {"api", s.operator_.engine_api},
                     {"socket", s.operator_.engine_socket}, {"state", s.operator_.engine_state}};
  }
  out["agents"] = {{"total", s.agents}, {"ready", s.agents_ready}};
  out["problems"] = s.problems;
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}
}  // namespace

int RunStatus(const Globals& globals) {
  const HomePaths paths = globals.paths();
  const HomeStatus s = Look(paths);
  const int status = s.gateway_runs && s.operator_runs ? kDone : (s.supervisor || s.gateway_runs || s.operator_runs ? kFailed : kUnavailable);
  if (globals.structured()) {
    PrintStructured(globals, ToJson(paths, s, status));
    return status;
  }
  Table table({"PART", "STATE"});
  table.Add({"home", paths.home()});
  table.Add({"supervisor", s.supervisor ? "running (pid " + std::to_string(*s.supervisor) + ")" + Since(s.up.start_time) : "not running"});
  table.Add({"gateway", s.gateway_runs ? s.gateway_state + " (pid " + std::to_string(s.gateway.pid) + "), HTTP 127.0.0.1:" + std::to_string(s.gateway.http_port) +
                                             ", metrics 127.0.0.1:" + std::to_string(s.gateway.metrics_port)
                                       : "not running"});
  table.Add({"operator", s.operator_runs ? "running (pid " + std::to_string(s.operator_.pid) + "), metrics 127.0.0.1:" + std::to_string(s.operator_.metrics_port)
                                         : "not running"});
  table.Add({"engine", EngineLine(s)});
  std::string split = s.supervisor && !s.up.privilege_split.empty() ? s.up.privilege_split : "unknown";
  if (!s.up.privilege_reason.empty()) split += ": " + s.up.privilege_reason;
  table.Add({"privilege split", split});
  table.Add({"agents", std::to_string(s.agents_ready) + "/" + std::to_string(s.agents) + (s.operator_runs ? " ready" : " ready when the operator last looked")});
  for (const auto& problem : s.problems) table.Add({"problem", problem});
  Print(table.Render(false));
  if (status == kUnavailable) PrintError("status", "beige is not up on " + paths.home() + ": no supervisor holds its lock; start it with 'beige up'");
  if (status == kFailed) PrintError("status", "a process is not running; its log is beneath " + paths.LogsDir() + ", and 'beige logs' shows it");
  return status;
}

}  // namespace beige::cli
