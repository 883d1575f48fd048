#ifndef BEIGE_OPERATOR_APP_WORKERS_H_
#define BEIGE_OPERATOR_APP_WORKERS_H_

#include <atomic>
#include <thread>
#include <vector>

#include "operator/app/metrics.h"
#include "operator/queue/work_queue.h"
#include "operator/reconcile/disk_watch.h"
#include "operator/reconcile/reconciler.h"
#include "operator/reconcile/sweep.h"

namespace beige {

// The threads that take keys from the queue and make the blocking calls to the engine and the gateway. As many as cores (at least two):
// more starts in parallel only make each slower.
class Workers {
 public:
  Workers(WorkQueue& queue, Reconciler& reconciler, Sweep& sweep, DiskWatch& disk, Metrics& metrics);
  ~Workers();  // joins; shut the queue down before

  bool AllDone() const { return running_ == 0; }

 private:
  void Run();

  WorkQueue& queue_;
  Reconciler& reconciler_;
  Sweep& sweep_;
  DiskWatch& disk_;
  Metrics& metrics_;
  std::atomic<int> running_{0};
  std::vector<std::thread> threads_;
};

}  // namespace beige

#endif
