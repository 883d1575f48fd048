#include "cli/supervise/view_check.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/spawn.h"
#include "base/unix_socket.h"
#include "cli/supervise/engine_sockets.h"

namespace beige::cli {
namespace {
bool CanWrite(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  return static_cast<bool>(fd);
}

bool CanCreateIn(const std::string& directory) {
  const std::string probe = directory + "/.view-check." + std::to_string(::getpid());
  const UniqueFd fd(::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return false;
  ::unlink(probe.c_str());
  return true;
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    if (text.size() < 16384) text.append(buffer, static_cast<size_t>(n));
  }
}
}  // namespace

std::vector<std::string> CheckView(const HomePaths& paths, const EnvLookup& env) {
  std::vector<std::string> leaks;
  std::string configured;
  if (const auto text = ReadFileIfExists(paths.OperatorYaml()); text && *text) {
    if (const auto loaded = LoadOperatorConfig(**text, paths.OperatorYaml(), env); loaded.value) configured = loaded.value->engine_socket;
  }
  // The network namespace is shared, so the table still names what listens outside.
  for (const auto& socket : EngineSockets(configured, env, ReadFile("/proc/net/unix", 64u << 20).value_or(""))) {
    if (ConnectUnix(socket)) leaks.push_back("the engine answers at " + socket);
  }
  for (const auto& file : {paths.OperatorYaml(), paths.GatewayYaml()}) {
    if (Exists(file) && CanWrite(file)) leaks.push_back(file + " is writable");
  }
  for (const auto& directory : {paths.home(), paths.AgentsDir(), paths.DataOperator()}) {
    if (Exists(directory) && CanCreateIn(directory)) leaks.push_back(directory + " is writable");
  }
  for (const auto& directory : {paths.RunDir(), paths.LogsDir(), paths.DataGateway()}) {
    if (!CanCreateIn(directory)) leaks.push_back(directory + " is not writable");
  }
  return leaks;
}

Result<> ProveView(const HomePaths& paths, const GatewayView& view) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return FailErrno(errno, "pipe");
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  SpawnRequest request;
  request.argv = {"bwrap"};
  for (auto& argument : BubblewrapArguments(view)) request.argv.push_back(std::move(argument));
  request.argv.insert(request.argv.end(), {ExecutableDir() + "/beige", "internal", "check-view", "--home", paths.home()});
  request.environment = CurrentEnvironment();
  request.fds = {{writer.get(), 1}, {writer.get(), 2}};
  auto pid = Spawn(request);
  if (!pid) return Fail(Code::kUnavailable, "bubblewrap is not installed (" + pid.error().message + ")");
  writer.Reset();
  std::string text = ReadAll(reader.get());
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  while (text.ends_with('\n')) text.pop_back();
  const bool leaks = WIFEXITED(status) && WEXITSTATUS(status) == kViewLeaks;
  return Fail(leaks ? Code::kDenied : Code::kUnavailable, text.empty() ? "bubblewrap failed without a word" : text);
}

}  // namespace beige::cli
