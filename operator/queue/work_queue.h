#ifndef BEIGE_OPERATOR_QUEUE_WORK_QUEUE_H_
#define BEIGE_OPERATOR_QUEUE_WORK_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>

#include "api/agent_ref.h"
#include "base/clock.h"

namespace beige {

// Keys that need a look, never events. A key that waits is there once however often it was added; a key that is being worked on is
// not given to a second worker, and is given out again after Done() if it was added meanwhile. Thread-safe.
class WorkQueue {
 public:
  struct Options {
    std::chrono::milliseconds first_backoff{200};
    std::chrono::milliseconds max_backoff{30000};
    uint32_t seed = 1;  // of the jitter
  };
  WorkQueue(const Clock& clock, Options options);

  void Add(const AgentKey& key);
  // The earliest of several wishes counts.
  void AddAfter(const AgentKey& key, std::chrono::nanoseconds delay);
  // AddAfter the key's own backoff: doubles with each call up to the cap, +-20 %. Returns the delay.
  std::chrono::nanoseconds AddRateLimited(const AgentKey& key);
  void Forget(const AgentKey& key);  // success: the next backoff starts small again

  std::optional<AgentKey> Get();     // waits for a key; nullopt after ShutDown()
  std::optional<AgentKey> TryGet();  // never waits; for tests that step
  void Done(const AgentKey& key);
  void ShutDown();  // keys that wait are dropped, Get() returns

  size_t depth() const;       // ready, without those whose time has not come
  uint64_t retries() const;   // calls of AddRateLimited so far

 private:
  void AddLocked(const AgentKey& key);
  void AddAfterLocked(const AgentKey& key, std::chrono::nanoseconds delay);
  void PromoteLocked();
  std::optional<AgentKey> TakeLocked();

  const Clock& clock_;
  const Options options_;
  // The mutex and the condition variable are one thing here, so the data is not in a Guarded.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<AgentKey> ready_;
  std::set<AgentKey> waiting_;     // in ready_, or added while in processing_
  std::set<AgentKey> processing_;
  std::map<AgentKey, SteadyTime> later_;
  std::set<std::pair<SteadyTime, AgentKey>> by_time_;
  std::map<AgentKey, int> failures_;
  std::minstd_rand jitter_;
  uint64_t retries_ = 0;
  bool down_ = false;
};

}  // namespace beige

#endif
