#include "cli/doctor/cells.h"

#include <cstdlib>

#include "base/files.h"
#include "base/landlock.h"
#include "cli/processes.h"
#include "cli/supervise/captured.h"
#include "cli/supervise/gateway_view.h"

namespace beige::cli {
namespace {
constexpr auto kCellPatience = std::chrono::seconds(20);

std::string Setting(const char* path) {
  const auto text = ReadFile(path, 64);
  return text ? text->substr(0, text->find('\n')) : "";
}

// The switches that distributions have for user namespaces, and the one that is against us.
std::string HowToAllowUserNamespaces() {
  if (Setting("/proc/sys/kernel/unprivileged_userns_clone") == "0") return "allow them: sysctl kernel.unprivileged_userns_clone=1 (keep it in /etc/sysctl.d/)";
  if (Setting("/proc/sys/user/max_user_namespaces") == "0") return "allow them: sysctl user.max_user_namespaces=10000 (keep it in /etc/sysctl.d/)";
  if (Setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") {
    return "allow them to bubblewrap: an AppArmor profile for bwrap with the rule 'userns,', or sysctl kernel.apparmor_restrict_unprivileged_userns=0";
  }
  return "allow user namespaces; in a container, run it with seccomp and AppArmor profiles that let it call unshare and mount";
}

Finding LookAtLandlock() {
  const int version = LandlockVersion();
  const std::string what = version == 0 ? "none in this kernel" : "version " + std::to_string(version);
  const std::string lacks = LandlockLacks(version);
  if (lacks.empty()) return Ok("cells.landlock", what);
  return Warn("cells.landlock", what + ": " + lacks, std::string(version == 0 ? "boot with lsm=landlock, and " : "") + "run Linux 6.12 or later; until then give network: host to no tool that an agent can steer");
}
}  // namespace

CellReport LookAtCells(const HomePaths& paths, const PrivilegeSplit& split) {
  CellReport report;
  const auto version = RunCaptured({"bwrap", "--version"}, kCellPatience);
  if (!version || version->status != 0) {
    report.findings.push_back(Bad("cells.bubblewrap", "bubblewrap is not installed, so that no tool can be offered and the gateway gets no view of its own", "install it: apt-get install bubblewrap"));
    return report;
  }
  report.bubblewrap = true;
  report.findings.push_back(Ok("cells.bubblewrap", version->text));

  const auto space = RunCaptured({"bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"}, kCellPatience);
  if (!space || space->status != 0) {
    report.findings.push_back(Bad("cells.userNamespaces", "this machine makes none for us: " + (space ? space->text : space.error().message), HowToAllowUserNamespaces()));
    return report;
  }
  report.user_namespaces = true;
  report.findings.push_back(Ok("cells.userNamespaces", "allowed"));

  // The gateway's own program makes the cell, where the gateway would stand.
  std::vector<std::string> argv;
  if (const auto view = split.kind == "namespace" ? DescribeGatewayView(paths, ProcessEnv()) : tl::make_unexpected(Error{}); view) {
    argv = ViewCommand(split.reason.empty() ? *view : AsRoot(*view));
  }
  argv.insert(argv.end(), {ExecutableDir() + "/" + kGatewayProcess, "--check-cell", "--home", paths.home()});
  const auto cell = RunCaptured(argv, kCellPatience);
  if (!cell || cell->status != 0) {
    report.findings.push_back(Bad("cells.make", "no tool cell can be made: " + (cell ? cell->text : cell.error().message), "look at what it says; until then granted tools are not offered"));
    return report;
  }
  report.made = true;
  report.findings.push_back(Ok("cells.make", "a tool cell was made and its runner answered"));
  report.findings.push_back(LookAtLandlock());
  return report;
}

}  // namespace beige::cli
