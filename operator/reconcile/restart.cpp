#include "operator/reconcile/restart.h"

#include <algorithm>

namespace beige {

RestartState AfterExit(RestartState state, std::chrono::nanoseconds uptime, SteadyTime now) {
  if (uptime >= RestartState::kStable) state.in_a_row = 0;
  ++state.total;
  ++state.in_a_row;
  std::chrono::seconds delay{0};
  if (state.in_a_row > 1) delay = std::min(std::chrono::seconds(1LL << std::min(state.in_a_row - 2, 20)), RestartState::kLongest);
  state.allowed_at = now + delay;
  return state;
}

}  // namespace beige
