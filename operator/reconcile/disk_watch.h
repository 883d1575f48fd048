#ifndef BEIGE_OPERATOR_RECONCILE_DISK_WATCH_H_
#define BEIGE_OPERATOR_RECONCILE_DISK_WATCH_H_

#include <functional>
#include <map>
#include <string>

#include "api/paths.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "operator/queue/work_queue.h"
#include "operator/reconcile/desired.h"
#include "operator/reconcile/disk_policy.h"
#include "operator/reconcile/measure.h"
#include "operator/reconcile/reconciler.h"

namespace beige {

// The queue's key of the look at the disk; no agent has it.
inline const AgentKey kDiskKey{"", "disk"};

// What can still be written to a file system. INT64_MAX: it does not say, or has no such bound.
struct DiskSpace {
  int64_t bytes = INT64_MAX;
  int64_t files = INT64_MAX;    // that can still be made
  int64_t least_files = 0;      // as many are kept free
};

// Looks at the free space of the home's disk, bytes and files alike, and stops who fills it. An agent is charged with its workspace, what
// its tools keep for it, its sessions, and what its processes hold open without a name. Blocking; run by a worker like any other key.
class DiskWatch {
 public:
  struct Deps {
    const HomePaths& paths;
    const DesiredState& desired;
    const ConfigState& config;
    const SandboxIndex& index;
    DiskPressure& pressure;
    WorkQueue& queue;
    const Clock& clock;
    std::function<DiskSpace()> free_space;  // replaced by tests
  };
  explicit DiskWatch(Deps deps);
  void Run();

 private:
  struct Running {
    std::map<std::string, AgentKey> keys;  // by uid
    std::map<std::string, DiskUse> bytes;
    std::map<std::string, DiskUse> files;
  };
  Running Measure(const Desired& desired) const;
  void StopForBytes(const DiskPolicy::Stop& stop, const AgentKey& key, int64_t free, int64_t least);
  void StopForFiles(const DiskPolicy::Stop& stop, const AgentKey& key, int64_t free, int64_t least);

  const Deps d_;
  DiskPolicy bytes_{1 << 20};
  DiskPolicy files_{16};
  bool said_ = false;
};

}  // namespace beige

#endif
