#include "gateway/roster/descriptor_budget.h"

#include <algorithm>

namespace beige {
namespace {
constexpr int64_t kOwn = 192;      // logs, audit, HTTP, admin and CLI connections, what a publish or a start of a cell opens for a moment
constexpr int64_t kEachAgent = 20; // two listeners, the control channel, callers that wait to be told that there are too many
constexpr int64_t kEachCell = 4;
constexpr int64_t kLeast = 4;
}  // namespace

int64_t ConnectionsEach(int64_t configured, int64_t files, size_t agents, size_t cells) {
  const int64_t count = std::max<int64_t>(1, static_cast<int64_t>(agents));
  const int64_t left = files - kOwn - count * kEachAgent - static_cast<int64_t>(cells) * kEachCell;
  return std::clamp(left / count, std::min(kLeast, configured), configured);
}

}  // namespace beige
