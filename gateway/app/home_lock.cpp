#include "gateway/app/home_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace beige {

Result<UniqueFd> LockHome(const HomePaths& paths) {
  const std::string file = paths.DataGateway() + "/lock";
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return FailErrno(errno, "open " + file);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return FailErrno(errno, "lock " + file);
    char text[32] = "";
    const ssize_t n = ::pread(fd.get(), text, sizeof text - 1, 0);
    const std::string pid = n > 0 ? std::string(text, static_cast<size_t>(n)).substr(0, std::string(text).find('\n')) : "unknown";
    return Fail(Code::kConflict, "home " + paths.home() + ": another beige-gateway (pid " + pid + ") runs on it; stop that one first ('beige down')");
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) != 0 || ::pwrite(fd.get(), pid.data(), pid.size(), 0) < 0) return FailErrno(errno, "write " + file);
  return fd;
}

}  // namespace beige
