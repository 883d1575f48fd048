#include "cli/supervise/home_dirs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/unix_socket.h"

namespace beige::cli {

Result<> PrepareHome(const HomePaths& paths) {
  // The longest name that is bound: the gateway's socket under its temporary name.
  if (auto fits = CheckSocketPath(paths.GatewaySocket("any") + "~"); !fits) return FailIn("home " + paths.home(), fits.error());
  for (const auto& directory : {paths.home(), paths.AgentsDir(), paths.Workspaces(), paths.Sessions(), paths.LogsDir(), paths.DataOperator(),
                                paths.DataGateway(), paths.RunDir(), paths.home() + "/plugins", paths.home() + "/bin"}) {
    BEIGE_TRY(MakeDirs(directory, 0700));
  }
  for (const auto& directory : {paths.home(), paths.RunDir()}) {
    struct stat st {};
    if (::stat(directory.c_str(), &st) != 0) return FailErrno(errno, "look at " + directory);
    if (!S_ISDIR(st.st_mode)) return Fail(Code::kInvalid, directory + ": is not a directory; choose another home with --home or BEIGE_HOME");
    if (st.st_uid != ::geteuid()) {
      return Fail(Code::kDenied, directory + ": belongs to uid " + std::to_string(st.st_uid) + ", not to you; choose another home with --home or BEIGE_HOME");
    }
    if ((st.st_mode & 07777) != 0700 && ::chmod(directory.c_str(), 0700) != 0) return FailErrno(errno, "chmod " + directory);
  }
  // Another `up` on this home may be at the same place; one of the two is refused later, by the lock.
  if (::symlink("data/gateway/api-token", paths.ApiTokenLink().c_str()) != 0 && errno != EEXIST) {
    return FailErrno(errno, "link " + paths.ApiTokenLink());
  }
  return {};
}

}  // namespace beige::cli
