#include "runtime/engine/chunk_queue.h"

#include <utility>

namespace beige::runtime::engine {

void ChunkQueue::Attach(Transfer& transfer) {
  transfer.on_headers = [this](const Outcome& outcome) {
    std::lock_guard lock(mutex_);
    status_ = outcome.status;
  };
  transfer.on_data = [this](std::string_view bytes) { return Take(bytes); };
  // Notified under the lock: the queue may die as soon as its owner sees the outcome.
  transfer.on_done = [this](const Outcome& outcome) {
    std::lock_guard lock(mutex_);
    outcome_ = outcome;
    changed_.notify_all();
  };
}

Flow ChunkQueue::Take(std::string_view bytes) {
  std::lock_guard lock(mutex_);
  if (data_.size() + bytes.size() > limit_ && !(pause_ && data_.empty())) {
    if (pause_) return Flow::kPause;
    overflowed_ = true;
    return Flow::kStop;
  }
  data_ += bytes;
  changed_.notify_all();
  return Flow::kMore;
}

std::optional<std::string> ChunkQueue::Next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !data_.empty() || outcome_; });
  if (data_.empty()) return std::nullopt;
  return std::exchange(data_, {});
}

Outcome ChunkQueue::WaitEnd() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return outcome_.has_value(); });
  return *outcome_;
}

int ChunkQueue::status() {
  std::lock_guard lock(mutex_);
  return status_;
}

}  // namespace beige::runtime::engine
