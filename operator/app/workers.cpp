#include "operator/app/workers.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "base/log.h"

namespace beige {
namespace {
// How often an engine that is away is asked; an event stream that stands up again asks at once.
constexpr std::chrono::seconds kEngineRetry{2};
}  // namespace

Workers::Workers(WorkQueue& queue, Reconciler& reconciler, Sweep& sweep, DiskWatch& disk, Metrics& metrics)
    : queue_(queue), reconciler_(reconciler), sweep_(sweep), disk_(disk), metrics_(metrics) {
  const unsigned count = std::max(2u, std::thread::hardware_concurrency());
  running_ = static_cast<int>(count);
  for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this] { Run(); });
}

Workers::~Workers() {
  for (std::thread& thread : threads_) thread.join();
}

void Workers::Run() {
  while (const auto key = queue_.Get()) {
    if (*key == kSweepKey) {
      if (!sweep_.Run()) queue_.AddAfter(kSweepKey, kEngineRetry);
      queue_.Done(*key);
      continue;
    }
    if (*key == kDiskKey) {
      disk_.Run();
      queue_.Done(*key);
      continue;
    }
    const auto began = std::chrono::steady_clock::now();
    Reconciler::Outcome outcome;
    try {
      outcome = reconciler_.Reconcile(*key);
    } catch (const std::exception& error) {  // a bug of ours must not end the others
      outcome.result = Fail(Code::kInternal, error.what());
      LogError("reconcile threw", {{"agent", key->ToString()}, {"why", error.what()}});
    }
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    metrics_.Reconciled(!outcome.result ? "error" : outcome.look_again ? "requeue" : "success", took);
    if (outcome.result) {
      queue_.Forget(*key);
    } else {
      queue_.AddRateLimited(*key);
    }
    if (outcome.look_again) queue_.AddAfter(*key, *outcome.look_again);
    queue_.Done(*key);
  }
  --running_;
}

}  // namespace beige
