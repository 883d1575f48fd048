#include "operator/queue/work_queue.h"

#include <algorithm>
#include <utility>

namespace beige {
using std::chrono::nanoseconds;

WorkQueue::WorkQueue(const Clock& clock, Options options) : clock_(clock), options_(options), jitter_(options.seed) {}

void WorkQueue::Add(const AgentKey& key) {
  std::lock_guard lock(mutex_);
  AddLocked(key);
}

void WorkQueue::AddLocked(const AgentKey& key) {
  if (down_ || !waiting_.insert(key).second) return;
  if (processing_.contains(key)) return;  // Done() puts it in line
  ready_.push_back(key);
  wake_.notify_one();
}

void WorkQueue::AddAfter(const AgentKey& key, nanoseconds delay) {
  std::lock_guard lock(mutex_);
  AddAfterLocked(key, delay);
}

void WorkQueue::AddAfterLocked(const AgentKey& key, nanoseconds delay) {
  if (delay <= nanoseconds(0)) return AddLocked(key);
  if (down_) return;
  const SteadyTime due = clock_.Now() + std::chrono::duration_cast<SteadyTime::duration>(delay);
  if (auto it = later_.find(key); it != later_.end()) {
    if (it->second <= due) return;
    by_time_.erase({it->second, key});
  }
  later_[key] = due;
  by_time_.insert({due, key});
  if (by_time_.begin()->second == key) wake_.notify_one();  // somebody waits for a later time
}

nanoseconds WorkQueue::AddRateLimited(const AgentKey& key) {
  std::lock_guard lock(mutex_);
  const int failures = std::min(failures_[key]++, 30);
  const double doubled = static_cast<double>(options_.first_backoff.count()) * static_cast<double>(1LL << failures);
  const double capped = std::min(doubled, static_cast<double>(options_.max_backoff.count()));
  const double factor = std::uniform_real_distribution<double>(0.8, 1.2)(jitter_);
  const auto delay = nanoseconds(static_cast<int64_t>(capped * factor * 1e6));
  ++retries_;
  AddAfterLocked(key, delay);
  return delay;
}

void WorkQueue::Forget(const AgentKey& key) {
  std::lock_guard lock(mutex_);
  failures_.erase(key);
}

void WorkQueue::PromoteLocked() {
  const SteadyTime now = clock_.Now();
  while (!by_time_.empty() && by_time_.begin()->first <= now) {
    const AgentKey key = by_time_.begin()->second;
    by_time_.erase(by_time_.begin());
    later_.erase(key);
    AddLocked(key);
  }
}

std::optional<AgentKey> WorkQueue::TakeLocked() {
  if (ready_.empty()) return std::nullopt;
  AgentKey key = std::move(ready_.front());
  ready_.pop_front();
  waiting_.erase(key);
  processing_.insert(key);
  return key;
}

std::optional<AgentKey> WorkQueue::Get() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (down_) return std::nullopt;
    PromoteLocked();
    if (auto key = TakeLocked()) return key;
    if (by_time_.empty()) {
      wake_.wait(lock);
    } else {
      // A copy: another worker may take the entry, and free its node, while this one waits.
      const SteadyTime due = by_time_.begin()->first;
      wake_.wait_until(lock, due);
    }
  }
}

std::optional<AgentKey> WorkQueue::TryGet() {
  std::lock_guard lock(mutex_);
  if (down_) return std::nullopt;
  PromoteLocked();
  return TakeLocked();
}

void WorkQueue::Done(const AgentKey& key) {
  std::lock_guard lock(mutex_);
  processing_.erase(key);
  if (down_ || !waiting_.contains(key)) return;
  ready_.push_back(key);
  wake_.notify_one();
}

void WorkQueue::ShutDown() {
  std::lock_guard lock(mutex_);
  down_ = true;
  ready_.clear();
  waiting_.clear();
  later_.clear();
  by_time_.clear();
  wake_.notify_all();
}

size_t WorkQueue::depth() const {
  std::lock_guard lock(mutex_);
  return ready_.size();
}

uint64_t WorkQueue::retries() const {
  std::lock_guard lock(mutex_);
  return retries_;
}

}  // namespace beige
