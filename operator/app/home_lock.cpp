#include "operator/app/home_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/files.h"

namespace beige {

Result<UniqueFd> LockHome(const HomePaths& paths) {
  BEIGE_TRY(MakeDirs(paths.DataOperator(), 0700));
  const std::string file = paths.DataOperator() + "/operator.lock";
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return FailErrno(errno, "open " + file);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return FailErrno(errno, "lock " + file);
    const auto pid = ReadFile(file, 64);
    return Fail(Code::kConflict, "home " + paths.home() + " is in use by another beige-operator (pid " +
                                     (pid ? pid->substr(0, pid->find('\n')) : "unknown") + "); stop it with `beige down` first");
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) != 0 || ::pwrite(fd.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return FailErrno(errno, "write " + file);
  }
  return fd;
}

}  // namespace beige
