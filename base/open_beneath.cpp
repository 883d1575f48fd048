#include "base/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace beige {

UniqueFd OpenBeneath(const std::string& directory, const std::string& path, int flags) {
  if (path == directory) return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC));
  const bool within = path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
  const std::string from = within && !directory.empty() ? directory : "/";
  const UniqueFd top(::open(from.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top) return {};
  const size_t rest = path.find_first_not_of('/', from == "/" ? 0 : from.size());
  open_how how{};
  how.flags = static_cast<uint64_t>(flags) | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  for (;;) {
    const long fd = ::syscall(SYS_openat2, top.get(), rest == std::string::npos ? "." : path.c_str() + rest, &how, sizeof how);
    // EAGAIN: something was renamed while the kernel walked.
    if (fd >= 0 || errno != EAGAIN) return UniqueFd(static_cast<int>(fd));
  }
}

UniqueFd MakeDirectoryIn(int parent, const std::string& name, mode_t mode) {
  const bool made = ::mkdirat(parent, name.c_str(), mode) == 0;
  if (!made && errno != EEXIST) return {};
  UniqueFd fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd && made && ::fchmod(fd.get(), mode) != 0) return {};
  return fd;
}

}  // namespace beige
