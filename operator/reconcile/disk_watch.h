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
#include "operator/reconcile/reconciler.h"

namespace beige {

// The queue's key of the look at the disk; no agent has it.
inline const AgentKey kDiskKey{"", "disk"};

// What a directory's files take; other file systems and links are left out, and so is what lies beyond 200,000 entries or 100 levels: the
// tree is an agent's.
DiskUse MeasureTree(const std::string& path, SystemTime recent_since);

// Looks at the free space of the home's disk and stops who fills it. Blocking; run by a worker like any other key.
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
    // Bytes; replaced by tests.
    std::function<int64_t()> free_space;
  };
  explicit DiskWatch(Deps deps);
  void Run();

 private:
  const Deps d_;
  DiskPolicy policy_;
  bool said_ = false;
};

}  // namespace beige

#endif
