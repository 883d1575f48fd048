#ifndef BEIGE_TESTS_FUZZ_FUZZ_H_
#define BEIGE_TESTS_FUZZ_FUZZ_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace beige::fuzz {

// What a decoder must hold beside not crashing; ends the target so that libFuzzer keeps the input.
inline void Hold(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// Takes an input apart: small numbers that steer first, the rest is what the decoder gets.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  uint8_t Byte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  // At most `most` bytes of what is left.
  std::string_view Take(size_t most) {
    const std::string_view taken = rest_.substr(0, most);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  // Up to the next NUL, which is taken too.
  std::string_view Text() {
    const std::string_view taken = Take(rest_.find('\0'));
    Take(1);
    return taken;
  }
  std::string_view Rest() { return Take(rest_.size()); }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace beige::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#endif
