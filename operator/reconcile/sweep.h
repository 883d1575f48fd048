#ifndef BEIGE_OPERATOR_RECONCILE_SWEEP_H_
#define BEIGE_OPERATOR_RECONCILE_SWEEP_H_

#include <atomic>
#include <string>

#include "base/result.h"
#include "operator/queue/work_queue.h"
#include "operator/reconcile/desired.h"
#include "operator/reconcile/sandbox_index.h"
#include "operator/store/event_log.h"
#include "operator/store/home_id.h"
#include "runtime/sandbox.h"

namespace beige {

// The queue's key of the sweep; no agent has it.
inline const AgentKey kSweepKey{};

// One look at the whole engine: does it answer, which containers of this home are there, and which of them belong to nobody any more.
// Such strays are removed, but not before the source has said everything once. Blocking; run by a worker like any other key.
class Sweep {
 public:
  struct Deps {
    const HomeId& home;
    runtime::SandboxRuntime& runtime;
    SandboxIndex& index;
    const DesiredState& desired;
    const IdentityStore& identities;
    EventLog& events;
    WorkQueue& queue;
  };
  explicit Sweep(const Deps& deps) : d_(deps) {}

  // An error means that the engine is down; all agents have been queued if that is news.
  Result<> Run();

 private:
  void QueueAll();
  const Deps d_;
  std::atomic<unsigned> slow_{0};
};

}  // namespace beige

#endif
