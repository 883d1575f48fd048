#include "runtime/engine/log_frames.h"

#include <algorithm>

namespace beige::runtime::engine {

std::string JoinLogFrames(std::string_view framed) {
  constexpr size_t kHeader = 8;
  std::string out;
  while (framed.size() >= kHeader) {
    if (framed[0] < 0 || framed[0] > 2 || framed[1] != 0 || framed[2] != 0 || framed[3] != 0) break;
    size_t length = 0;
    for (size_t i = 4; i < kHeader; ++i) length = (length << 8) | static_cast<unsigned char>(framed[i]);
    framed.remove_prefix(kHeader);
    const size_t n = std::min(length, framed.size());
    out += framed.substr(0, n);
    framed.remove_prefix(n);
    if (framed.empty()) return out;
  }
  return out.empty() ? std::string(framed) : out;
}

}  // namespace beige::runtime::engine
