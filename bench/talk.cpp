// bench-talk --port P [--token T] --path PATH --body JSON [--count N] [--streams N]: POSTs that answer with server-sent events.
// --count: one after another on a kept connection; prints times to the first text and to the end, and the bytes of an answer.
// --streams: that many at once; texts are the nanoseconds of their sending, and the delay of each is what is measured.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {
int64_t Now() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

int Connect(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    std::perror("bench-talk: connect");
    std::exit(1);
  }
  return fd;
}

double At(std::vector<double> values, double part) {
  if (values.empty()) return -1;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
}

// Where a text stands in either's events.
constexpr char kOurs[] = "data: {\"text\":\"";
constexpr char kTheirs[] = "\"content\":\"";

size_t FindText(const std::string& in, size_t from) {
  const size_t a = in.find(kOurs, from);
  const size_t b = in.find(kTheirs, from);
  if (a == std::string::npos && b == std::string::npos) return std::string::npos;
  return a < b ? a + sizeof kOurs - 1 : b + sizeof kTheirs - 1;
}
}  // namespace

int main(int argc, char** argv) {
  std::string token, path, body;
  int port = 0;
  size_t count = 0, streams = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string arg = argv[i];
    if (arg == "--port") port = std::atoi(argv[i + 1]);
    if (arg == "--token") token = argv[i + 1];
    if (arg == "--path") path = argv[i + 1];
    if (arg == "--body") body = argv[i + 1];
    if (arg == "--count") count = std::strtoul(argv[i + 1], nullptr, 10);
    if (arg == "--streams") streams = std::strtoul(argv[i + 1], nullptr, 10);
  }
  const std::string request = "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                              (token.empty() ? "" : "\r\nAuthorization: Bearer " + token) + "\r\nContent-Type: application/json\r\nContent-Length: " +
                              std::to_string(body.size()) + "\r\n\r\n" + body;
  char buffer[65536];
  if (streams > 0) {
    const int poll = ::epoll_create1(EPOLL_CLOEXEC);
    std::vector<std::string> in(streams);
    std::vector<int> fds(streams);
    std::vector<double> delays;
    size_t open = streams;
    for (size_t i = 0; i < streams; ++i) {
      fds[i] = Connect(port);
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = i;
      ::epoll_ctl(poll, EPOLL_CTL_ADD, fds[i], &event);
      if (::send(fds[i], request.data(), request.size(), MSG_NOSIGNAL) < 0) return 1;
    }
    while (open > 0) {
      epoll_event events[256];
      const int n = ::epoll_wait(poll, events, 256, 30'000);
      if (n <= 0) {
        std::fprintf(stderr, "bench-talk: %zu streams are silent\n", open);
        return 1;
      }
      for (int e = 0; e < n; ++e) {
        const size_t i = events[e].data.u64;
        const ssize_t got = ::read(fds[i], buffer, sizeof buffer);
        const int64_t now = Now();
        if (got > 0) in[i].append(buffer, static_cast<size_t>(got));
        for (size_t at; (at = FindText(in[i], 0)) != std::string::npos;) {
          const size_t quote = in[i].find('"', at);
          if (quote == std::string::npos) break;
          // Texts may have been put together on the way: the oldest counts, all of them.
          for (size_t digit = at; digit + 10 < quote + 1;) {
            const int64_t sent = std::strtoll(in[i].substr(digit, std::to_string(now).size()).c_str(), nullptr, 10);
            delays.push_back(static_cast<double>(now - sent) / 1e6);
            digit += std::to_string(now).size();
          }
          in[i].erase(0, quote);
        }
        if (got <= 0 || in[i].ends_with("\r\n0\r\n\r\n")) {
          if (got <= 0) std::fprintf(stderr, "bench-talk: a stream broke: %s\n", in[i].substr(0, 300).c_str());
          ::close(fds[i]);
          --open;
        }
      }
    }
    std::printf("{\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f,\"n\":%zu}\n", At(delays, 0.5), At(delays, 0.99), At(delays, 1), delays.size());
    return 0;
  }
  const int fd = Connect(port);
  std::vector<double> first, whole;
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    std::string in;
    bool text = false;
    const int64_t sent = Now();
    if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) return 1;
    while (!in.ends_with("\r\n0\r\n\r\n")) {
      const ssize_t n = ::read(fd, buffer, sizeof buffer);
      if (n <= 0) {
        std::fprintf(stderr, "bench-talk: broken: %s\n", in.substr(0, 300).c_str());
        return 1;
      }
      in.append(buffer, static_cast<size_t>(n));
      if (!text && FindText(in, 0) != std::string::npos) {
        text = true;
        first.push_back(static_cast<double>(Now() - sent) / 1e6);
      }
      if (in.starts_with("HTTP/1.1 4") || in.starts_with("HTTP/1.1 5")) {
        std::fprintf(stderr, "bench-talk: %s\n", in.substr(0, 600).c_str());
        return 1;
      }
    }
    whole.push_back(static_cast<double>(Now() - sent) / 1e6);
    bytes = in.size();
  }
  std::printf("{\"first_p50_ms\":%.3f,\"first_p99_ms\":%.3f,\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"first10_ms\":%.3f,\"last10_ms\":%.3f,\"bytes\":%zu,\"n\":%zu}\n", At(first, 0.5),
              At(first, 0.99), At(whole, 0.5), At(whole, 0.99), At({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(std::min<size_t>(10, whole.size()))}, 0.5),
              At({whole.end() - static_cast<ptrdiff_t>(std::min<size_t>(10, whole.size())), whole.end()}, 0.5), bytes, whole.size());
  return 0;
}
