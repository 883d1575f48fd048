#ifndef BEIGE_OPERATOR_SOURCE_REMOVAL_HOLD_H_
#define BEIGE_OPERATOR_SOURCE_REMOVAL_HOLD_H_

#include <chrono>
#include <optional>

#include "base/clock.h"
#include "operator/source/snapshot.h"

namespace beige {

// An unmounted volume or a wrong `rm` looks like the wish to delete everything. A snapshot that would remove more than three and more
// than half of the agents is believed only when it has stood for kHold; until then the missing agents are put back and `notice` says so.
class RemovalHold {
 public:
  static constexpr std::chrono::seconds kHold{60};

  // The time at which to look again, if something is held.
  std::optional<SteadyTime> Apply(Snapshot& next, const Snapshot& last, SteadyTime now);

 private:
  std::optional<SteadyTime> since_;
};

}  // namespace beige

#endif
