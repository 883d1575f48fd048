#ifndef BEIGE_BASE_UNIX_SOCKET_H_
#define BEIGE_BASE_UNIX_SOCKET_H_

#include <sys/types.h>

#include <chrono>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace beige {

// sun_path holds 107 bytes and a NUL. Invalid, naming the limit, for a longer one.
Result<> CheckSocketPath(const std::string& path);

// A listening stream socket, non-blocking, CLOEXEC, with `mode`. A stale file of an earlier process is replaced: bound under a
// temporary name and renamed, so that a connect never finds the name absent.
Result<UniqueFd> ListenUnix(const std::string& path, mode_t mode, int backlog = 128);

// A connected stream socket, CLOEXEC, blocking. Unavailable when nobody listens.
Result<UniqueFd> ConnectUnix(const std::string& path);

Result<> SetNonBlocking(int fd);

struct PeerCredentials {
  pid_t pid = 0;  // 0 when the peer is in a pid namespace that is not visible here
  uid_t uid = 0;
  gid_t gid = 0;
};
Result<PeerCredentials> PeerOf(int fd);

// Blocking write of all bytes (SIGPIPE never raised); for CLI-like callers.
Result<> SendAll(int fd, std::string_view bytes);

}  // namespace beige

#endif
