#ifndef BEIGE_HTTP_LISTEN_SOCKET_H_
#define BEIGE_HTTP_LISTEN_SOCKET_H_

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace beige::http {

struct BoundSocket {
  UniqueFd fd;
  uint16_t port = 0;
  bool ipv6 = false;
};

// A listening TCP socket on `host` (an address, "localhost" or a name; "" or "*" = all), non-blocking and CLOEXEC. Asio opens its own
// without CLOEXEC, so a program started at the wrong moment would inherit them; that is why these are plain system calls.
// Conflict, naming host and port, when the port is taken.
Result<BoundSocket> ListenTcp(const std::string& host, uint16_t port);

struct AcceptedSocket {
  UniqueFd fd;
  std::string remote;  // address of the peer, without its port
};
// errno in `error` when there is none; EAGAIN = nobody waits.
AcceptedSocket AcceptTcp(int listener, int& error);

std::string HostPort(const std::string& host, uint16_t port);  // [::1]:80 for IPv6

}  // namespace beige::http

#endif
