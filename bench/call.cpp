// Closed-loop clients of one Unix socket: p50 and p99 of a round trip and calls a second.
//   bench-call --socket PATH [--connections N] [--seconds S]      v1 calls of a tool that is not granted
//   bench-call --floor [--connections N] [--seconds S]            the same bytes against a bare C++ echo thread: the physics here
// Prints one JSON object.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "base/unix_socket.h"

namespace {
using beige::UniqueFd;
using SteadyClock = std::chrono::steady_clock;

constexpr char kRequest[] =
    "{\"type\":\"tool_request\",\"tool\":\"not-granted\",\"args\":[\"get\",\"a\"],\"cwd\":\"sub/dir\",\"sessionContext\":{\"sessionKey\":\"bench\"}}\n";
// About as long as the denial.
constexpr char kReply[] =
    "{\"type\":\"tool_response\",\"success\":false,\"error\":\"not-granted: unknown tool; no configuration names it....\",\"exitCode\":127}\n";

// A bare echo server of one thread: blocking read and write for one connection, epoll for more.
void ServeFloor(std::vector<UniqueFd> fds) {
  char buffer[4096];
  if (fds.size() == 1) {
    while (::read(fds[0].get(), buffer, sizeof buffer) > 0) {
      if (::send(fds[0].get(), kReply, sizeof kReply - 1, MSG_NOSIGNAL) < 0) return;
    }
    return;
  }
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  size_t open = fds.size();
  for (auto& fd : fds) {
    epoll_event event{EPOLLIN, {.fd = fd.get()}};
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd.get(), &event);
  }
  epoll_event ready[64];
  while (open > 0) {
    const int n = ::epoll_wait(epoll.get(), ready, 64, -1);
    for (int i = 0; i < n; ++i) {
      const int fd = ready[i].data.fd;
      if (::read(fd, buffer, sizeof buffer) <= 0) {
        ::epoll_ctl(epoll.get(), EPOLL_CTL_DEL, fd, nullptr);
        --open;
      } else {
        ::send(fd, kReply, sizeof kReply - 1, MSG_NOSIGNAL);
      }
    }
  }
}

struct Client {
  UniqueFd fd;
  SteadyClock::time_point sent;
};

void SendOne(Client& client) {
  client.sent = SteadyClock::now();
  if (::send(client.fd.get(), kRequest, sizeof kRequest - 1, MSG_NOSIGNAL) < 0) {
    std::perror("bench-call: send");
    std::exit(1);
  }
}
}  // namespace

int main(int argc, char** argv) {
  std::string socket_path;
  bool floor_only = false;
  size_t connections = 1;
  double seconds = 2;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--floor") floor_only = true;
    if (i + 1 >= argc) break;
    if (arg == "--socket") socket_path = argv[++i];
    if (arg == "--connections") connections = std::strtoul(argv[++i], nullptr, 10);
    if (arg == "--seconds") seconds = std::strtod(argv[++i], nullptr);
  }
  std::vector<Client> clients(connections);
  std::thread server;
  if (floor_only) {
    std::vector<UniqueFd> ends;
    for (auto& client : clients) {
      int pair[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return 1;
      client.fd.Reset(pair[0]);
      ends.emplace_back(pair[1]);
    }
    server = std::thread(ServeFloor, std::move(ends));
  } else {
    for (auto& client : clients) {
      auto fd = beige::ConnectUnix(socket_path);
      if (!fd) {
        std::fprintf(stderr, "bench-call: %s\n", fd.error().message.c_str());
        return 1;
      }
      client.fd = std::move(*fd);
    }
  }

  std::vector<float> micros;
  micros.reserve(4 << 20);
  char buffer[8192];
  const auto take = [&](Client& client) {
    const ssize_t n = ::read(client.fd.get(), buffer, sizeof buffer);
    if (n <= 0) {
      std::fprintf(stderr, "bench-call: the server closed the connection\n");
      std::exit(1);
    }
    if (buffer[n - 1] != '\n') return false;  // the rest of the line comes with the next read
    micros.push_back(std::chrono::duration<float, std::micro>(SteadyClock::now() - client.sent).count());
    return true;
  };
  const auto start = SteadyClock::now();
  const auto end = start + std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
  if (connections == 1) {
    while (SteadyClock::now() < end) {
      SendOne(clients[0]);
      while (!take(clients[0])) {
      }
    }
  } else {
    UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
    for (size_t i = 0; i < clients.size(); ++i) {
      epoll_event event{EPOLLIN, {.u64 = i}};
      ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, clients[i].fd.get(), &event);
      SendOne(clients[i]);
    }
    epoll_event ready[128];
    while (SteadyClock::now() < end) {
      const int n = ::epoll_wait(epoll.get(), ready, 128, 1000);
      for (int i = 0; i < n; ++i) {
        if (take(clients[ready[i].data.u64])) SendOne(clients[ready[i].data.u64]);
      }
    }
  }
  const double elapsed = std::chrono::duration<double>(SteadyClock::now() - start).count();
  if (!floor_only) {
    // The last answer shows that these really were denials.
    const std::string last(buffer, std::min<size_t>(sizeof buffer, 400));
    if (last.find("\"success\":false") == std::string::npos) {
      std::fprintf(stderr, "bench-call: not a denial: %s\n", last.c_str());
      return 1;
    }
  }
  std::sort(micros.begin(), micros.end());
  std::printf("{\"p50_us\":%.2f,\"p99_us\":%.2f,\"per_second\":%.0f,\"n\":%zu}\n", static_cast<double>(micros[micros.size() / 2]),
              static_cast<double>(micros[micros.size() * 99 / 100]), static_cast<double>(micros.size()) / elapsed, micros.size());
  for (auto& client : clients) ::shutdown(client.fd.get(), SHUT_RDWR);
  if (server.joinable()) server.join();
  return 0;
}
