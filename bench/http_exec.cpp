// bench-http-exec --port P --token T --agent NAME [--clients N] [--count N]: POST exec `true` on kept connections.
// Prints p50, p99 and execs a second as one JSON object.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "base/unix_socket.h"

namespace {
using SteadyClock = std::chrono::steady_clock;

// One request and its whole answer; false when the answer is not an exit code of 0.
bool Exchange(int fd, const std::string& request) {
  if (!beige::SendAll(fd, request)) return false;
  std::string answer;
  char chunk[8192];
  size_t want = std::string::npos;
  while (answer.size() < want) {
    const ssize_t n = ::read(fd, chunk, sizeof chunk);
    if (n <= 0) return false;
    answer.append(chunk, static_cast<size_t>(n));
    const size_t head = answer.find("\r\n\r\n");
    const size_t at = answer.find("Content-Length: ");
    if (want == std::string::npos && head != std::string::npos && at != std::string::npos) {
      want = head + 4 + std::strtoul(answer.c_str() + at + 16, nullptr, 10);
    }
  }
  if (answer.find("\"exitCode\":0") != std::string::npos) return true;
  std::fprintf(stderr, "bench-http-exec: %s\n", answer.c_str());
  return false;
}
}  // namespace

int main(int argc, char** argv) {
  std::string port;
  std::string token;
  std::string agent;
  size_t client_count = 1;
  size_t count = 1000;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string arg = argv[i];
    if (arg == "--port") port = argv[i + 1];
    if (arg == "--token") token = argv[i + 1];
    if (arg == "--agent") agent = argv[i + 1];
    if (arg == "--clients") client_count = std::strtoul(argv[i + 1], nullptr, 10);
    if (arg == "--count") count = std::strtoul(argv[i + 1], nullptr, 10);
  }
  const std::string body = "{\"command\":[\"/bin/true\"]}";
  const std::string request = "POST /v1/namespaces/default/agents/" + agent + "/exec HTTP/1.1\r\nHost: 127.0.0.1:" + port +
                              "\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nContent-Length: " +
                              std::to_string(body.size()) + "\r\n\r\n" + body;
  std::vector<std::vector<float>> times(client_count);
  std::atomic<bool> failed{false};
  const auto start = SteadyClock::now();
  std::vector<std::thread> threads;
  for (size_t c = 0; c < client_count; ++c) {
    threads.emplace_back([&, c] {
      beige::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<uint16_t>(std::strtoul(port.c_str(), nullptr, 10)));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      const int one = 1;
      ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) failed = true;
      for (size_t i = 0; i < count / client_count && !failed; ++i) {
        const auto sent = SteadyClock::now();
        if (!Exchange(fd.get(), request)) failed = true;
        times[c].push_back(std::chrono::duration<float, std::milli>(SteadyClock::now() - sent).count());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const double elapsed = std::chrono::duration<double>(SteadyClock::now() - start).count();
  if (failed) {
    std::fprintf(stderr, "bench-http-exec: an exec failed\n");
    return 1;
  }
  std::vector<float> all;
  for (const auto& t : times) all.insert(all.end(), t.begin(), t.end());
  std::sort(all.begin(), all.end());
  std::printf("{\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"per_second\":%.0f,\"n\":%zu}\n", static_cast<double>(all[all.size() / 2]),
              static_cast<double>(all[all.size() * 99 / 100]), static_cast<double>(all.size()) / elapsed, all.size());
  return 0;
}
