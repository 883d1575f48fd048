#ifndef BEIGE_GATEWAY_SESSIONS_CORE_TOOLS_OUTPUT_H_
#define BEIGE_GATEWAY_SESSIONS_CORE_TOOLS_OUTPUT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace beige::sessions {

// Makes valid UTF-8 of bytes that come in pieces: each invalid byte, and NUL, becomes U+FFFD; a character that a piece ends within waits
// for the next one.
class Utf8Stream {
 public:
  std::string Feed(std::string_view bytes);
  std::string End();  // what still waits, replaced

 private:
  std::string waiting_;
};
std::string ToUtf8(std::string_view bytes);

// What a command wrote, both streams in the order in which they came: the first bytes as they are, up to kGathered, and enough of its beginning and
// end for a text of about kShown bytes and kShownLines lines.
class Output {
 public:
  static constexpr size_t kGathered = 8u << 20;
  static constexpr size_t kShown = 30u << 10;
  static constexpr size_t kShownLines = 2000;

  // `left`: what all outputs of one agent may gather beside this one.
  explicit Output(std::shared_ptr<size_t> left = nullptr) : left_(std::move(left)) {}
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void Add(std::string_view bytes);
  uint64_t bytes() const { return bytes_; }
  const std::string& gathered() const { return gathered_; }  // raw
  bool Fits() const;  // all of it is shown
  // Valid UTF-8. `where`: what to say of the rest in place of what is left out, such as "all of it is in FILE".
  std::string Shown(std::string_view where) const;

 private:
  const std::shared_ptr<size_t> left_;
  uint64_t bytes_ = 0;
  uint64_t lines_ = 0;
  std::string gathered_;
  std::string tail_;  // beyond what is gathered
};

}  // namespace beige::sessions

#endif
