#ifndef BEIGE_OPERATOR_RECONCILE_RESTART_H_
#define BEIGE_OPERATOR_RECONCILE_RESTART_H_

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace beige {

// A sandbox that ended without our wish is started again: the first time at once, then after 1 s, doubling to 5 min; one that ran for
// kStable counts as healthy again.
struct RestartState {
  static constexpr std::chrono::seconds kStable{60};
  static constexpr std::chrono::seconds kLongest{300};

  int64_t total = 0;
  int in_a_row = 0;
  SteadyTime allowed_at{};
  bool operator==(const RestartState&) const = default;
};

RestartState AfterExit(RestartState state, std::chrono::nanoseconds uptime, SteadyTime now);

}  // namespace beige

#endif
