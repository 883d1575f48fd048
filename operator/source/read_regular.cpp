#include "operator/source/read_regular.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"

namespace beige {

Result<std::string> ReadRegular(const std::string& path, size_t limit) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return FailErrno(errno, "open " + path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return FailErrno(errno, "stat " + path);
  if (!S_ISREG(info.st_mode)) return Fail(Code::kInvalid, path + ": want a regular file");
  std::string content;
  char chunk[65536];
  for (;;) {
    const ssize_t n = ::read(fd.get(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "read " + path);
    if (n == 0) return content;
    content.append(chunk, static_cast<size_t>(n));
    if (content.size() > limit) {
      return Fail(Code::kInvalid, path + ": larger than the limit of " + std::to_string(limit) + " bytes");
    }
  }
}

}  // namespace beige
