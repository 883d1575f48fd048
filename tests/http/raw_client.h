#ifndef BEIGE_TESTS_HTTP_RAW_CLIENT_H_
#define BEIGE_TESTS_HTTP_RAW_CLIENT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace beige::http_test {

// A client that sends bytes as told, right or wrong. Every wait has a deadline.
class RawClient {
 public:
  explicit RawClient(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  bool connected() const { return connected_; }
  int fd() const { return fd_.get(); }

  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  void FinishSending() { ::shutdown(fd_.get(), SHUT_WR); }
  void Close() { fd_.Reset(); }

  // Reads until `marker` has come or the peer has closed; what was read beyond stays for the next call.
  std::string ReadUntil(std::string_view marker, std::chrono::milliseconds limit = std::chrono::seconds(10)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (;;) {
      if (const size_t at = pending_.find(marker); at != std::string::npos) return Take(at + marker.size());
      if (!Fill(deadline)) return Take(pending_.size());
    }
  }
  std::string ReadExactly(size_t n, std::chrono::milliseconds limit = std::chrono::seconds(10)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (pending_.size() < n && Fill(deadline)) {
    }
    return Take(std::min(n, pending_.size()));
  }
  // Everything up to the end of the stream.
  std::string ReadAll(std::chrono::milliseconds limit = std::chrono::seconds(10)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (Fill(deadline)) {
    }
    return Take(pending_.size());
  }
  bool closed() const { return closed_; }

  struct Answer {
    int status = 0;
    std::string head;
    std::string body;
  };
  // One answer with a Content-Length.
  Answer ReadAnswer(std::chrono::milliseconds limit = std::chrono::seconds(10)) {
    Answer answer;
    answer.head = ReadUntil("\r\n\r\n", limit);
    if (answer.head.size() < 12) return answer;
    answer.status = std::stoi(answer.head.substr(9, 3));
    if (const size_t at = answer.head.find("Content-Length: "); at != std::string::npos) {
      answer.body = ReadExactly(std::stoul(answer.head.substr(at + 16)), limit);
    }
    return answer;
  }
  Answer Get(std::string_view path) {
    Send("GET " + std::string(path) + " HTTP/1.1\r\nHost: t\r\n\r\n");
    return ReadAnswer();
  }

 private:
  bool Fill(std::chrono::steady_clock::time_point deadline) {
    if (closed_) return false;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd p{fd_.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&p, 1, static_cast<int>(left.count())) <= 0) return false;
    char chunk[65536];
    const ssize_t n = ::recv(fd_.get(), chunk, sizeof chunk, 0);
    if (n <= 0) {
      closed_ = true;
      return false;
    }
    pending_.append(chunk, static_cast<size_t>(n));
    return true;
  }
  std::string Take(size_t n) {
    std::string out = pending_.substr(0, n);
    pending_.erase(0, n);
    return out;
  }

  UniqueFd fd_;
  bool connected_ = false;
  bool closed_ = false;
  std::string pending_;
};

}  // namespace beige::http_test

#endif
