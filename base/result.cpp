#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace beige {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kInvalid: return "Invalid";
    case Code::kNotFound: return "NotFound";
    case Code::kConflict: return "Conflict";
    case Code::kDenied: return "Denied";
    case Code::kUnavailable: return "Unavailable";
    case Code::kTimeout: return "Timeout";
    case Code::kExhausted: return "Exhausted";
    case Code::kInternal: return "Internal";
  }
  return "Internal";
}

bool IsRetryable(Code code) {
  return code == Code::kUnavailable || code == Code::kTimeout || code == Code::kConflict || code == Code::kExhausted;
}

namespace {
Code CodeOfErrno(int err) {
  switch (err) {
    case ENOENT:
    case ESRCH: return Code::kNotFound;
    case EEXIST:
    case EADDRINUSE: return Code::kConflict;
    case EACCES:
    case EPERM:
    case EROFS: return Code::kDenied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN: return Code::kExhausted;
    case ETIMEDOUT: return Code::kTimeout;
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
    case ENOTCONN: return Code::kUnavailable;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
    case ENOTDIR:
    case EISDIR: return Code::kInvalid;
    default: return Code::kInternal;
  }
}
}  // namespace

tl::unexpected<Error> FailErrno(int err, std::string_view doing) {
  return Fail(CodeOfErrno(err), std::string(doing) + ": " + std::system_category().message(err));
}

}  // namespace beige
