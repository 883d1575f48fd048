#include "gateway/sessions/disk.h"

#include <algorithm>
#include <chrono>

namespace beige::sessions {
namespace {
constexpr std::chrono::milliseconds kSync{50};
}

Disk::Disk(Loop& loop) : loop_(loop), thread_([this] { Main(); }) {}

Disk::~Disk() {
  *alive_ = false;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Disk::Push(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void Disk::SyncSoon(const std::shared_ptr<LogFile>& file) {
  const std::lock_guard lock(mutex_);
  if (std::find(dirty_.begin(), dirty_.end(), file) != dirty_.end()) return;
  dirty_.push_back(file);
  if (dirty_.size() == 1) changed_.notify_one();
}

void Disk::Main() {
  std::unique_lock lock(mutex_);
  auto sync_at = std::chrono::steady_clock::time_point::max();
  for (;;) {
    if (!tasks_.empty()) {
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
      continue;
    }
    if (stop_) break;
    const auto now = std::chrono::steady_clock::now();
    if (dirty_.empty()) {
      sync_at = std::chrono::steady_clock::time_point::max();
      changed_.wait(lock);
    } else if (sync_at == std::chrono::steady_clock::time_point::max()) {
      sync_at = now + kSync;
    } else if (now >= sync_at) {
      const auto files = std::exchange(dirty_, {});
      sync_at = std::chrono::steady_clock::time_point::max();
      lock.unlock();
      for (const auto& file : files) file->Sync();
      lock.lock();
    } else {
      changed_.wait_until(lock, sync_at);
    }
  }
  for (const auto& file : dirty_) file->Sync();
}

}  // namespace beige::sessions
