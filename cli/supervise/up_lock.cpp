#include "cli/supervise/up_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/files.h"

namespace beige::cli {
namespace {
// Asking for this kind of lock (F_OFD_GETLK) doesn't take it, so a look at the state can't make an `up` fail that starts just then.
struct flock WholeFile() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

pid_t ReadPid(int fd) {
  char text[32] = {};
  if (::pread(fd, text, sizeof text - 1, 0) <= 0) return 0;
  return static_cast<pid_t>(std::strtol(text, nullptr, 10));
}
}  // namespace

Result<UniqueFd> TakeUpLock(const HomePaths& paths) {
  UniqueFd fd(::open(paths.SupervisorLock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return FailErrno(errno, "open " + paths.SupervisorLock());
  struct flock lock = WholeFile();
  if (::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) {
    if (errno != EAGAIN && errno != EACCES) return FailErrno(errno, "lock " + paths.SupervisorLock());
    return Fail(Code::kConflict, "this home is already up (pid " + std::to_string(ReadPid(fd.get())) + ", home " + paths.home() +
                                     "); see 'beige status', or stop it first with 'beige down'");
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) != 0 || ::pwrite(fd.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return FailErrno(errno, "write " + paths.SupervisorLock());
  }
  return fd;
}

std::optional<pid_t> SupervisorOf(const HomePaths& paths) {
  UniqueFd fd(::open(paths.SupervisorLock().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct flock lock = WholeFile();
  if (!fd || ::fcntl(fd.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  const pid_t pid = ReadPid(fd.get());
  if (pid <= 0) return std::nullopt;
  return pid;
}

}  // namespace beige::cli
