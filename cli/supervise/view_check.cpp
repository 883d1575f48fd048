#include "cli/supervise/view_check.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/files.h"
#include "base/unix_socket.h"
#include "cli/supervise/captured.h"
#include "api/engine_sockets.h"

namespace beige::cli {
namespace {
constexpr auto kPatience = std::chrono::seconds(20);

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
  std::vector<std::string> argv = ViewCommand(view);
  argv.insert(argv.end(), {ExecutableDir() + "/beige", "internal", "check-view", "--home", paths.home()});
  const auto run = RunCaptured(argv, kPatience);
  if (!run && run.error().code == Code::kUnavailable) return Fail(Code::kUnavailable, "bubblewrap is not installed (" + run.error().message + ")");
  if (!run) return tl::make_unexpected(run.error());
  if (run->status == 0) return {};
  return Fail(run->status == kViewLeaks ? Code::kDenied : Code::kUnavailable, run->text.empty() ? "bubblewrap failed without a word" : run->text);
}

}  // namespace beige::cli
