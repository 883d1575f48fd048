#include "channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace beige::sandbox_test {
namespace {

using Clock = std::chrono::steady_clock;

bool WaitReadable(int fd, Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
  pollfd poll_fd{fd, POLLIN, 0};
  return poll(&poll_fd, 1, left < 0 ? 0 : static_cast<int>(left) + 1) > 0;
}

}  // namespace

std::string U32(uint32_t value) {
  std::string bytes(4, '\0');
  for (size_t i = 0; i < 4; ++i) bytes[i] = static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

uint32_t ReadU32(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value |= static_cast<uint32_t>(static_cast<uint8_t>(bytes.at(at + i))) << (8 * i);
  return value;
}

std::string FieldOf(uint8_t tag, const std::string& bytes) {
  return std::string(1, static_cast<char>(tag)) + U32(static_cast<uint32_t>(bytes.size())) + bytes;
}

std::vector<std::string> FieldsOf(const std::string& payload, uint8_t tag) {
  std::vector<std::string> values;
  for (size_t at = 0; at + 5 <= payload.size();) {
    const uint32_t length = ReadU32(payload, at + 1);
    if (static_cast<uint8_t>(payload[at]) == tag) values.push_back(payload.substr(at + 5, length));
    at += 5 + length;
  }
  return values;
}

std::string Preamble(uint16_t role, uint8_t low, uint8_t high) {
  std::string bytes = BGE_MAGIC;
  bytes += static_cast<char>(low);
  bytes += static_cast<char>(high);
  bytes += static_cast<char>(role & 0xff);
  bytes += static_cast<char>(role >> 8);
  return bytes + std::string(8, '\0');
}

Channel::Channel(Channel&& other) noexcept : fd_(std::exchange(other.fd_, -1)), buffered_(std::move(other.buffered_)) {}

Channel::~Channel() {
  if (fd_ >= 0) close(fd_);
}

bool Channel::SendBytes(const std::string& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t sent = send(fd_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    at += static_cast<size_t>(sent);
  }
  return true;
}

bool Channel::Send(uint32_t call, uint8_t kind, const std::string& payload, uint8_t stream) {
  std::string bytes = U32(static_cast<uint32_t>(payload.size())) + U32(call);
  bytes += static_cast<char>(kind);
  bytes += static_cast<char>(stream);
  bytes += std::string(2, '\0');
  return SendBytes(bytes + payload);
}

std::optional<std::string> Channel::ReadBytes(size_t length, int patience_ms) {
  const auto until = Clock::now() + std::chrono::milliseconds(patience_ms);
  char chunk[65536];
  while (buffered_.size() < length) {
    if (!WaitReadable(fd_, until)) return std::nullopt;
    const ssize_t got = read(fd_, chunk, sizeof chunk);
    if (got <= 0) return std::nullopt;
    buffered_.append(chunk, static_cast<size_t>(got));
  }
  std::string bytes = buffered_.substr(0, length);
  buffered_.erase(0, length);
  return bytes;
}

std::optional<Frame> Channel::Next(int patience_ms) {
  const auto header = ReadBytes(BGE_HEADER_BYTES, patience_ms);
  if (!header) return std::nullopt;
  Frame frame;
  frame.call = ReadU32(*header, 4);
  frame.kind = static_cast<uint8_t>((*header)[8]);
  frame.stream = static_cast<uint8_t>((*header)[9]);
  auto payload = ReadBytes(ReadU32(*header), kPatienceMs);
  if (!payload) return std::nullopt;
  frame.payload = std::move(*payload);
  return frame;
}

bool Channel::Closes(int patience_ms) {
  const auto until = Clock::now() + std::chrono::milliseconds(patience_ms);
  char chunk[65536];
  while (WaitReadable(fd_, until))
    if (read(fd_, chunk, sizeof chunk) <= 0) return true;
  return false;
}

Listener::Listener(const std::string& path) : path_(path), fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path.c_str());
  if (bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(fd_, 64) != 0 ||
      chmod(path.c_str(), 0666) != 0) {
    std::perror(path.c_str());
    std::abort();
  }
}

Listener::~Listener() {
  close(fd_);
  unlink(path_.c_str());
}

std::optional<Channel> Listener::Accept(int patience_ms) {
  if (!WaitReadable(fd_, Clock::now() + std::chrono::milliseconds(patience_ms))) return std::nullopt;
  const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return std::nullopt;
  return Channel(fd);
}

}  // namespace beige::sandbox_test
