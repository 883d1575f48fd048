#ifndef BEIGE_BASE_CLOCK_H_
#define BEIGE_BASE_CLOCK_H_

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace beige {

using SteadyTime = std::chrono::steady_clock::time_point;
using SystemTime = std::chrono::system_clock::time_point;

// Injected so that tests step time. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime Now() const = 0;
  virtual SystemTime WallNow() const = 0;
};

class RealClock : public Clock {
 public:
  SteadyTime Now() const override { return std::chrono::steady_clock::now(); }
  SystemTime WallNow() const override { return std::chrono::system_clock::now(); }
};

// Moves only when told to; for tests. Not thread-safe.
class ManualClock : public Clock {
 public:
  SteadyTime Now() const override { return steady_; }
  SystemTime WallNow() const override { return wall_; }
  void Advance(std::chrono::nanoseconds by) {
    steady_ += std::chrono::duration_cast<SteadyTime::duration>(by);
    wall_ += std::chrono::duration_cast<SystemTime::duration>(by);
  }

 private:
  SteadyTime steady_{std::chrono::hours(1)};
  SystemTime wall_{std::chrono::seconds(1796000000)};
};

// RFC 3339, UTC, milliseconds: 2026-11-29T12:00:00.123Z.
std::string FormatTime(SystemTime time);
Result<SystemTime> ParseTime(std::string_view text);

// "30s", "1m30s", "250ms", "2h", "7d"; at least one unit, no sign, no fraction. Invalid otherwise.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);
std::string FormatDuration(std::chrono::milliseconds duration);  // shortest form that ParseDuration reads back

}  // namespace beige

#endif
