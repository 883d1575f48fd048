#ifndef BEIGE_CLI_SUPERVISE_RESTART_BACKOFF_H_
#define BEIGE_CLI_SUPERVISE_RESTART_BACKOFF_H_

#include <algorithm>
#include <chrono>

namespace beige::cli {

// How long to wait before the next start of a process that ended: first at once, then 0.1 s doubling to 2 s; a run of 5 s starts anew.
class RestartBackoff {
 public:
  std::chrono::milliseconds AfterRunOf(std::chrono::nanoseconds lifetime) {
    if (lifetime >= kReset) failures_ = 0;
    const int failures = failures_++;
    if (failures == 0) return std::chrono::milliseconds(0);
    return std::min(kFirst * (1 << std::min(failures - 1, 10)), kLongest);
  }
  int failures() const { return failures_; }

  static constexpr std::chrono::milliseconds kFirst{100};
  static constexpr std::chrono::milliseconds kLongest{2000};
  static constexpr std::chrono::seconds kReset{5};

 private:
  int failures_ = 0;
};

}  // namespace beige::cli

#endif
