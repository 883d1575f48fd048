#ifndef BEIGE_GATEWAY_AUDIT_SYNC_THREAD_H_
#define BEIGE_GATEWAY_AUDIT_SYNC_THREAD_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/unique_fd.h"

namespace beige::audit {

// fdatasync off the core thread: what was written is on the disk within `period` (sync: batch). One thread.
class SyncThread {
 public:
  explicit SyncThread(std::chrono::milliseconds period);
  ~SyncThread();  // syncs what is left

  void Use(std::shared_ptr<const UniqueFd> fd);
  // Core thread; a few nanoseconds unless nothing was dirty.
  void MarkDirty() {
    if (!dirty_.exchange(true, std::memory_order_acq_rel)) Wake();
  }
  // errno of the last fdatasync, 0 = fine. While it is not, nothing may begin.
  int error() const { return error_.load(std::memory_order_acquire); }

 private:
  void Wake();
  void Run();

  const std::chrono::milliseconds period_;
  std::atomic<bool> dirty_{false};
  std::atomic<int> error_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const UniqueFd> fd_;  // guarded by mutex_
  bool stop_ = false;                   // guarded by mutex_
  std::thread thread_;
};

}  // namespace beige::audit

#endif
