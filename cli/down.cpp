#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/spawn.h"
#include "cli/processes.h"
#include "cli/report.h"
#include "cli/supervise/up_lock.h"
#include "cli/up.h"

namespace beige::cli {
namespace {
constexpr int kStopMillis = 30000;  // two processes with 10 s of grace each, and some

// The supervisor is not our child; a pidfd tells when it has ended without the risk of a pid that somebody else has by then.
Result<> StopSupervisor(const HomePaths& paths, pid_t pid) {
  auto pidfd = OpenPidFd(pid);
  if (!pidfd) return {};  // ended meanwhile
  if (SupervisorOf(paths) != pid) return {};
  if (::syscall(SYS_pidfd_send_signal, pidfd->get(), SIGTERM, nullptr, 0) != 0 && errno != ESRCH) {
    return FailErrno(errno, "signal the supervisor (pid " + std::to_string(pid) + ")");
  }
  pollfd entry{pidfd->get(), POLLIN, 0};
  if (::poll(&entry, 1, kStopMillis) == 0) {
    return Fail(Code::kTimeout, "the supervisor (pid " + std::to_string(pid) + ") has not ended within 30s; see " + paths.ProcessLog("beige"));
  }
  return {};
}

int DeleteSandboxes(const HomePaths& paths) {
  SpawnRequest request;
  request.argv = {ExecutableDir() + "/" + kOperatorProcess, "--home", paths.home(), "--delete-sandboxes"};
  request.environment = CurrentEnvironment();
  request.fds = {{STDOUT_FILENO, 1}, {STDERR_FILENO, 2}};
  const auto pid = Spawn(request);
  if (!pid) return Report("down", pid.error());
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return kDone;
  return Report("down", WIFEXITED(status) && WEXITSTATUS(status) == kUnavailable ? kUnavailable : kFailed,
                "not all sandboxes are deleted; see the lines above, then run 'beige down --delete-sandboxes' again");
}
}  // namespace

int RunDown(const Globals& globals, const DownOptions& options) {
  const HomePaths paths = globals.paths();
  const auto pid = SupervisorOf(paths);
  if (pid) {
    if (const auto stopped = StopSupervisor(paths, *pid); !stopped) return Report("down", stopped.error());
    PrintLine("beige is down" + std::string(options.delete_sandboxes ? "" : "; the sandboxes are kept"));
  } else {
    PrintLine("beige was not up on " + paths.home());
  }
  return options.delete_sandboxes && Exists(paths.home()) ? DeleteSandboxes(paths) : kDone;
}

}  // namespace beige::cli
