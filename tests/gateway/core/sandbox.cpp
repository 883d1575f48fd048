#include "tests/gateway/core/sandbox.h"

#include <signal.h>
#include <sys/wait.h>

#include <stdexcept>

#include "base/files.h"
#include "base/spawn.h"

namespace beige::testing {

Sandbox::Sandbox(const HomePaths& paths, const std::string& uid, const std::string& instance, const std::string& workspace) {
  SpawnRequest request;
  request.argv = {"bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
                  "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"};
  const auto add = [&](std::initializer_list<std::string> words) { request.argv.insert(request.argv.end(), words); };
  if (workspace.empty()) {
    add({"--dir", "/workspace"});
  } else {
    add({"--bind", workspace, "/workspace"});
  }
  add({"--chdir", "/workspace", "--ro-bind", paths.LinkDir(uid), "/beige", "--ro-bind", ExecutableDir(), "/beige/bin", "--ro-bind", paths.LaunchersDir(uid),
       "/tools/bin", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL", "--clearenv", "--setenv", "BEIGE_INSTANCE", instance, "--setenv", "PATH",
       "/tools/bin:/usr/bin:/bin", "--", "/beige/bin/beige-sandbox", "init"});
  request.environment = CurrentEnvironment();
  auto pid = Spawn(request);
  if (!pid) throw std::runtime_error(pid.error().message);
  pid_ = *pid;
}

void Sandbox::Kill() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

}  // namespace beige::testing
