#include "gateway/audit/reserve.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace beige::audit {

Result<Reserve> Reserve::Open(const std::string& path, int64_t bytes) {
  Reserve reserve;
  reserve.fd_.Reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!reserve.fd_) return FailErrno(errno, "open " + path);
  reserve.bytes_ = bytes;
  // A full disk at start is not an error of ours: calls are denied until there is room again.
  (void)reserve.Restore();
  return reserve;
}

bool Reserve::Release(int64_t bytes) {
  if (held_ == 0) return false;
  held_ = std::max<int64_t>(0, held_ - bytes);
  return ::ftruncate(fd_.get(), held_) == 0;
}

Result<> Reserve::Restore() {
  struct stat st {};
  if (::fstat(fd_.get(), &st) != 0) return FailErrno(errno, "audit reserve");
  // A file of the right size may be sparse or of an earlier run; allocation of what is there costs nothing.
  if (st.st_size > bytes_ && ::ftruncate(fd_.get(), bytes_) != 0) return FailErrno(errno, "audit reserve");
  const int err = ::posix_fallocate(fd_.get(), 0, bytes_);
  if (err != 0) {
    // A partial allocation would take the very space that others wait for.
    if (::ftruncate(fd_.get(), held_) != 0) return FailErrno(errno, "audit reserve");
    return FailErrno(err, "audit reserve of " + std::to_string(bytes_) + " bytes");
  }
  held_ = bytes_;
  return {};
}

}  // namespace beige::audit
