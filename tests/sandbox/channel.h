// Protocol v2 as a test speaks it: blocking, on one descriptor, every wait with a deadline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/v2.h"

namespace beige::sandbox_test {

// Long, since it is waited for only where something is broken, and build machines stall.
inline constexpr int kPatienceMs = 60000;

struct Frame {
  uint32_t call = 0;
  uint8_t kind = 0;
  uint8_t stream = 0;
  std::string payload;
};

std::string U32(uint32_t value);
uint32_t ReadU32(const std::string& bytes, size_t at = 0);
std::string FieldOf(uint8_t tag, const std::string& bytes);
// All values of one tag, in order.
std::vector<std::string> FieldsOf(const std::string& payload, uint8_t tag);
std::string Preamble(uint16_t role, uint8_t low = BGE_VERSION_MIN, uint8_t high = BGE_VERSION_MAX);

class Channel {
 public:
  explicit Channel(int fd) : fd_(fd) {}
  Channel(Channel&& other) noexcept;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  Channel& operator=(Channel&&) = delete;
  ~Channel();

  // Writes all of it; false when the other side is gone.
  bool SendBytes(const std::string& bytes);
  bool Send(uint32_t call, uint8_t kind, const std::string& payload = "", uint8_t stream = 0);
  // Exactly `length` bytes, or nothing at the end of the stream or of the patience.
  std::optional<std::string> ReadBytes(size_t length, int patience_ms = kPatienceMs);
  std::optional<Frame> Next(int patience_ms = kPatienceMs);
  // True when the other side closes within the patience.
  bool Closes(int patience_ms = kPatienceMs);
  int fd() const { return fd_; }

 private:
  int fd_;
  std::string buffered_;
};

class Listener {
 public:
  explicit Listener(const std::string& path);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();
  std::optional<Channel> Accept(int patience_ms = kPatienceMs);

 private:
  std::string path_;
  int fd_;
};

}  // namespace beige::sandbox_test
