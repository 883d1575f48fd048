#include "cli/supervise/up_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/files.h"

namespace beige::cli {
namespace {
// A lock of the process (not of the open file): the kernel itself names its holder, whatever is written into the file, which the gateway
// could change. Asking who holds it doesn't take it, so a look at the state can't make an `up` fail that starts just then.
struct flock WholeFile() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

std::optional<pid_t> HolderOf(int fd) {
  struct flock lock = WholeFile();
  if (::fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK || lock.l_pid <= 0) return std::nullopt;
  return lock.l_pid;
}
}  // namespace

Result<UniqueFd> TakeUpLock(const HomePaths& paths) {
  UniqueFd fd(::open(paths.SupervisorLock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return FailErrno(errno, "open " + paths.SupervisorLock());
  struct flock lock = WholeFile();
  if (::fcntl(fd.get(), F_SETLK, &lock) != 0) {
    if (errno != EAGAIN && errno != EACCES) return FailErrno(errno, "lock " + paths.SupervisorLock());
    return Fail(Code::kConflict, "this home is already up (pid " + std::to_string(HolderOf(fd.get()).value_or(0)) + ", home " + paths.home() +
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
  return fd ? HolderOf(fd.get()) : std::nullopt;
}

}  // namespace beige::cli
