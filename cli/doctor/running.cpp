#include "cli/doctor/running.h"

#include <sys/stat.h>

#include <sstream>

#include "base/files.h"
#include "cli/privilege_split.h"
#include "cli/processes.h"
#include "cli/supervise/up_lock.h"

namespace beige::cli {
namespace {
bool IsRootThere(pid_t pid, uid_t uid) {
  std::istringstream lines(ReadFile("/proc/" + std::to_string(pid) + "/uid_map", 1u << 16).value_or(""));
  uint64_t inside = 0;
  uint64_t outside = 0;
  uint64_t count = 0;
  while (lines >> inside >> outside >> count) {
    if (inside == 0) return outside == uid;
  }
  return uid == 0;
}

// The kernel gives the /proc files of a process that is not dumpable to root of its user namespace. Of a process that is root there that
// shows nothing; its limit of core files, which is set in the same breath, does.
Finding Dumpable(const char* name, pid_t pid) {
  const std::string proc = "/proc/" + std::to_string(pid);
  const std::string check = std::string("process.") + name;
  const auto who = IdentityOf(pid);
  struct stat info {};
  if (!who || ::stat((proc + "/environ").c_str(), &info) != 0) return Warn(check, "it ended while it was looked at", "run 'beige doctor' again");
  const std::string text = ReadFile(proc + "/limits").value_or("");
  const size_t core = text.find("Max core file size");
  const bool no_core = core != std::string::npos && text.find_first_not_of(' ', core + 18) == text.find("0 ", core + 18);
  const bool closed = IsRootThere(pid, who->uid) ? no_core : info.st_uid == 0;
  const std::string about = std::string(name) + " (pid " + std::to_string(pid) + ", uid " + std::to_string(who->uid) + ")";
  if (closed) return Ok(check, about + " is up, and its memory is closed to other processes of its user");
  return Warn(check, about + " can be traced by other processes of its user", "start it again; if that does not help, this is a bug");
}

void Add(const char* name, bool runs, pid_t pid, bool wanted, const HomePaths& paths, Findings& out) {
  if (runs) {
    out.push_back(Dumpable(name, pid));
  } else if (wanted) {
    out.push_back(Bad(std::string("process.") + name, std::string(name) + " is not running", "look at " + paths.ProcessLog(name) + " ('beige logs'), then start it: 'beige up', or systemctl start " + name));
  }
}
}  // namespace

RunningReport LookAtProcesses(const HomePaths& paths) {
  RunningReport report;
  const auto supervisor = SupervisorOf(paths);
  const auto gateway = ReadGatewayInfo(paths);
  const auto info = ReadOperatorInfo(paths);
  report.supervised = supervisor.has_value();
  report.gateway = gateway && IsRunning(gateway->pid, kGatewayProcess);
  report.operator_ = info && IsRunning(info->pid, kOperatorProcess);
  report.split = SplitOf(info, gateway, report.supervised, supervisor ? ReadSupervisorInfo(paths).value_or(SupervisorInfo{}) : SupervisorInfo{});
  const bool any = report.supervised || report.gateway || report.operator_;
  if (!any) {
    report.findings.push_back(Warn("processes", "beige is not up on " + paths.home(), "start it: 'beige up --detach'"));
    return report;
  }
  Add(kGatewayProcess, report.gateway, gateway ? gateway->pid : 0, any, paths, report.findings);
  Add(kOperatorProcess, report.operator_, info ? info->pid : 0, any, paths, report.findings);
  if (report.operator_ && info->copied) report.findings.push_back(Bad("home.copy", info->notice, "if the original is gone for good: 'beige adopt'"));
  return report;
}

Finding JudgeSplit(const PrivilegeSplit& split, bool running) {
  const std::string who = running ? "the gateway" : "a gateway started by 'beige up'";
  if (split.kind == "uid") return Ok("privilegeSplit", "uid: operator and gateway have users of their own, and the gateway's may not open the engine's socket");
  if (split.kind == "namespace" && !split.reason.empty()) {
    return Warn("privilegeSplit", "namespace: " + who + " sees no engine, but " + split.reason,
                "put the home on a file system with idmapped mounts (ext4, xfs, btrfs; Linux 5.12), or give each process a user (docs/systemd.md); until then who breaks into the gateway may own the machine");
  }
  if (split.kind == "namespace") return Ok("privilegeSplit", "namespace: " + who + " sees no engine and writes only its own part of the home");
  return Warn("privilegeSplit", split.kind + ": " + (split.reason.empty() ? "can't be told" : split.reason),
              split.kind == "none" ? "let it have bubblewrap and user namespaces (see cells), or give each process a user (docs/systemd.md); until then who breaks into the gateway owns the machine" : "");
}

}  // namespace beige::cli
