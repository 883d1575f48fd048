#ifndef BEIGE_OPERATOR_RECONCILE_MEASURE_H_
#define BEIGE_OPERATOR_RECONCILE_MEASURE_H_

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "operator/reconcile/disk_policy.h"

namespace beige {

struct TreeUse {
  DiskUse bytes;
  DiskUse files;
  void Add(const TreeUse& other);
};

// A tree is an agent's: beyond these it is cut, and says so.
struct MeasureLimits {
  int entries = 200'000;
  int depth = 100;
};

// What a directory's files take; other file systems and links are left out. A file with several names counts once over all of them, so
// that a name more or less is no growth.
TreeUse MeasureTree(const std::string& path, SystemTime recent_since, const MeasureLimits& limits = {});

// What processes hold, open or mapped, of files of `device` that have no name any more: no tree shows them. Others' processes show only to
// root; those that can't be looked into count nothing.
TreeUse MeasureHeld(const std::vector<pid_t>& pids, dev_t device, SystemTime recent_since, const MeasureLimits& limits = {});

// The processes of every container on this machine, by the container's id, as their control groups tell.
std::map<std::string, std::vector<pid_t>> ContainerProcesses();
// The innermost container's id in the text of /proc/<pid>/cgroup: 64 hexadecimal digits; "" if there is none.
std::string ContainerOf(std::string_view cgroup);

}  // namespace beige

#endif
