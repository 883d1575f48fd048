#ifndef BEIGE_OPERATOR_RECONCILE_DISK_POLICY_H_
#define BEIGE_OPERATOR_RECONCILE_DISK_POLICY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace beige {

// How much one workspace takes of the disk, in bytes.
struct DiskUse {
  int64_t bytes = 0;
  int64_t recent = 0;  // of files that changed within the last minutes (by ctime, which an agent can't set)
};

// Who has to stop when the disk runs full: the one whose workspace grew most since space began to run short, one at a time, and each only
// for what it wrote since the one before was stopped. All may go on as soon as twice the least is free again. Pure; keyed by uid.
class DiskPolicy {
 public:
  struct Stop {
    std::string uid;
    int64_t grew = 0;
  };

  // Whether the sizes of workspaces are wanted at all: below twice `least`.
  static bool IsShort(int64_t free, int64_t least) { return free < 2 * least; }

  // One look while space is short. `uses` of those that run.
  std::optional<Stop> Look(int64_t free, int64_t least, const std::map<std::string, DiskUse>& uses);
  // Space is not short any more.
  void Forget() { base_.clear(); }

 private:
  std::map<std::string, int64_t> base_;  // bytes at the first look, or when the last one was stopped
};

}  // namespace beige

#endif
