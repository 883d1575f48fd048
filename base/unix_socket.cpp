#include "base/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace beige {
namespace {
constexpr size_t kMaxPath = sizeof(sockaddr_un::sun_path) - 1;

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Result<UniqueFd> StreamSocket() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return FailErrno(errno, "socket");
  return fd;
}
}  // namespace

Result<> CheckSocketPath(const std::string& path) {
  if (path.size() > kMaxPath) {
    return Fail(Code::kInvalid, "socket path " + path + " has " + std::to_string(path.size()) + " bytes; the kernel's limit is " +
                                    std::to_string(kMaxPath) + "; use a shorter home");
  }
  return {};
}

Result<UniqueFd> ListenUnix(const std::string& path, mode_t mode, int backlog) {
  BEIGE_TRY(CheckSocketPath(path));
  // No longer than the name itself, so that every path that CheckSocketPath takes can be bound.
  const std::string temp = path.substr(0, path.size() - 1) + "~";
  BEIGE_ASSIGN(UniqueFd fd, StreamSocket());
  BEIGE_TRY(SetNonBlocking(fd.get()));
  ::unlink(temp.c_str());
  const sockaddr_un address = AddressOf(temp);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return FailErrno(errno, "bind " + path);
  if (::chmod(temp.c_str(), mode) != 0) return FailErrno(errno, "chmod " + path);
  if (::listen(fd.get(), backlog) != 0) return FailErrno(errno, "listen " + path);
  if (::rename(temp.c_str(), path.c_str()) != 0) return FailErrno(errno, "rename to " + path);
  return fd;
}

Result<UniqueFd> ConnectUnix(const std::string& path) {
  BEIGE_TRY(CheckSocketPath(path));
  BEIGE_ASSIGN(UniqueFd fd, StreamSocket());
  const sockaddr_un address = AddressOf(path);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    // An absent socket file and a refused connect are the same to a caller: nobody listens.
    if (errno == ENOENT || errno == ECONNREFUSED) return Fail(Code::kUnavailable, "connect " + path + ": nobody listens there");
    return FailErrno(errno, "connect " + path);
  }
  return fd;
}

Result<> SetNonBlocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return FailErrno(errno, "set non-blocking");
  return {};
}

Result<PeerCredentials> PeerOf(int fd) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return FailErrno(errno, "SO_PEERCRED");
  return PeerCredentials{credentials.pid, credentials.uid, credentials.gid};
}

Result<> SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EINTR) continue;
      return FailErrno(errno, "send");
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace beige
