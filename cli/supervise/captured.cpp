#include "cli/supervise/captured.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/spawn.h"

namespace beige::cli {
namespace {
constexpr size_t kMaxText = 16384;

// False when the deadline came before the end of the stream.
bool ReadUntil(int fd, SteadyTime deadline, std::string& text) {
  char buffer[4096];
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd entry{fd, POLLIN, 0};
    if (left <= 0 || ::poll(&entry, 1, static_cast<int>(std::min<long long>(left, 60000))) == 0) return false;
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return true;
    if (text.size() < kMaxText) text.append(buffer, static_cast<size_t>(n));
  }
}
}  // namespace

Result<Captured> RunCaptured(const std::vector<std::string>& argv, std::chrono::milliseconds timeout) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return FailErrno(errno, "pipe");
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  SpawnRequest request;
  request.argv = argv;
  request.environment = CurrentEnvironment();
  request.fds = {{writer.get(), 1}, {writer.get(), 2}};
  auto pid = Spawn(request);
  if (!pid) return Fail(Code::kUnavailable, pid.error().message);
  writer.Reset();
  Captured captured;
  const bool ended = ReadUntil(reader.get(), std::chrono::steady_clock::now() + timeout, captured.text);
  if (!ended) ::kill(*pid, SIGKILL);
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) return Fail(Code::kTimeout, argv[0] + " did not end within " + FormatDuration(timeout));
  captured.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  while (captured.text.ends_with('\n')) captured.text.pop_back();
  return captured;
}

}  // namespace beige::cli
