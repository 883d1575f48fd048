#ifndef BEIGE_OPERATOR_RECONCILE_DISK_POLICY_H_
#define BEIGE_OPERATOR_RECONCILE_DISK_POLICY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace beige {

// How much of the disk one agent takes, in one unit: bytes, or files.
struct DiskUse {
  int64_t total = 0;
  int64_t recent = 0;  // of files that changed within the last minutes (by ctime, which an agent can't set)
  bool cut = false;    // there is more than was counted
};

// Who has to stop when the disk runs full: the one whose files grew most since space began to run short, one at a time, and each only
// for what it wrote since the one before was stopped. What was lost and nobody's count explains is laid to those whose count was cut, so
// that nobody hides behind more files than we count. All may go on as soon as twice the least is free again. Pure; keyed by uid; one for
// bytes, one for files.
class DiskPolicy {
 public:
  struct Stop {
    std::string uid;
    int64_t grew = 0;
    int64_t hidden = 0;  // of that: lost, and counted nowhere
  };

  // Less than `floor` is nobody's fault.
  explicit DiskPolicy(int64_t floor) : floor_(floor) {}

  // Whether the sizes of agents' files are wanted at all: below twice `least`.
  static bool IsShort(int64_t free, int64_t least) { return free < 2 * least; }

  // One look while space is short. `uses` of those that run.
  std::optional<Stop> Look(int64_t free, int64_t least, const std::map<std::string, DiskUse>& uses);
  // Space is not short any more.
  void Forget(int64_t free) {
    base_.clear();
    base_free_ = free;
  }

 private:
  int64_t floor_;
  std::map<std::string, int64_t> base_;  // totals at the first look, or when the last one was stopped
  std::optional<int64_t> base_free_;     // what was free then, or when it was not short yet
};

}  // namespace beige

#endif
