#include "http/listen_socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace beige::http {
namespace {
constexpr int kBacklog = 512;

struct FreeAddrInfo {
  void operator()(addrinfo* info) const { ::freeaddrinfo(info); }
};

void SetInt(int fd, int level, int option, int value) { ::setsockopt(fd, level, option, &value, sizeof value); }

std::string AddressText(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text, sizeof text);
  } else {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof text);
  }
  return text;
}
}  // namespace

std::string HostPort(const std::string& host, uint16_t port) {
  const bool ipv6 = host.find(':') != std::string::npos;
  return (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<BoundSocket> ListenTcp(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const bool any = host.empty() || host == "*";
  // "localhost" is the IPv4 loopback here whatever the resolver prefers: what is printed is where it listens.
  const char* node = any ? nullptr : host == "localhost" ? "127.0.0.1" : host.c_str();
  if (const int rc = ::getaddrinfo(node, std::to_string(port).c_str(), &hints, &found); rc != 0) {
    return Fail(Code::kInvalid, "listen on " + HostPort(host, port) + ": " + ::gai_strerror(rc));
  }
  const std::unique_ptr<addrinfo, FreeAddrInfo> info(found);
  BoundSocket bound;
  bound.ipv6 = info->ai_family == AF_INET6;
  bound.fd.Reset(::socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!bound.fd) return FailErrno(errno, "socket for " + HostPort(host, port));
  SetInt(bound.fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (::bind(bound.fd.get(), info->ai_addr, info->ai_addrlen) != 0 || ::listen(bound.fd.get(), kBacklog) != 0) {
    if (errno == EADDRINUSE) return Fail(Code::kConflict, HostPort(host, port) + " is already in use: another program listens there");
    return FailErrno(errno, "listen on " + HostPort(host, port));
  }
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(bound.fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return FailErrno(errno, "getsockname");
  bound.port = ntohs(bound.ipv6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                : reinterpret_cast<const sockaddr_in&>(address).sin_port);
  return bound;
}

AcceptedSocket AcceptTcp(int listener, int& error) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  AcceptedSocket accepted;
  accepted.fd.Reset(::accept4(listener, reinterpret_cast<sockaddr*>(&address), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
  error = accepted.fd ? 0 : errno;
  if (accepted.fd) {
    SetInt(accepted.fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    accepted.remote = AddressText(address);
  }
  return accepted;
}

}  // namespace beige::http
