#include "cli/adopt.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/files.h"
#include "base/spawn.h"
#include "cli/processes.h"
#include "cli/report.h"
#include "cli/supervise/services.h"
#include "cli/watch.h"

namespace beige::cli {
namespace {
constexpr auto kRestartLimit = std::chrono::seconds(20);

// The operator's own program does it: only it knows what a home's id is made of.
int Adopt(const HomePaths& paths) {
  SpawnRequest request;
  request.argv = {ExecutableDir() + "/" + kOperatorProcess, "--home", paths.home(), "--adopt"};
  request.environment = CurrentEnvironment();
  request.fds = {{STDOUT_FILENO, 1}, {STDERR_FILENO, 2}};
  const auto pid = Spawn(request);
  if (!pid) return Report("adopt", pid.error());
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kFailed;
}

// It reads the id once, at its start. Whoever supervises it (`beige up`, systemd) starts it again.
int RestartOperator(const HomePaths& paths, pid_t pid) {
  const auto pidfd = OpenPidFd(pid);
  if (!pidfd || !IsRunning(pid, kOperatorProcess)) return kDone;
  if (::syscall(SYS_pidfd_send_signal, pidfd->get(), SIGTERM, nullptr, 0) != 0 && errno != ESRCH) {
    return Report("adopt", FailErrno(errno, "restart the operator (pid " + std::to_string(pid) + ")").value());
  }
  const SteadyTime deadline = std::chrono::steady_clock::now() + kRestartLimit;
  Watch watch;
  for (;;) {
    watch.Add(paths.DataOperator());
    const auto info = ReadOperatorInfo(paths);
    if (info && info->pid != pid && IsRunning(info->pid, kOperatorProcess)) {
      PrintLine("the operator was started again and looks after the agents of this home");
      return kDone;
    }
    if (!watch.Wait(deadline) && std::chrono::steady_clock::now() >= deadline) {
      return Report("adopt", kTimedOut, "the operator was asked to restart and has not come back within 20s; start it again, such as with 'beige up'");
    }
  }
}
}  // namespace

int RunAdopt(const Globals& globals) {
  const HomePaths paths = globals.paths();
  if (!Exists(paths.home())) {
    return Report("adopt", kNotFound, "home " + paths.home() + ": no such directory; choose another with --home");
  }
  const auto running = ReadOperatorInfo(paths);
  const bool copied = running && running->copied;
  if (const int status = Adopt(paths); status != kDone) return status;
  return copied ? RestartOperator(paths, running->pid) : kDone;
}

}  // namespace beige::cli
