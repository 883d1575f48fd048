#include "gateway/audit/sync_thread.h"

#include <unistd.h>

#include <cerrno>

namespace beige::audit {

SyncThread::SyncThread(std::chrono::milliseconds period) : period_(period), thread_([this] { Run(); }) {}

SyncThread::~SyncThread() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void SyncThread::Use(std::shared_ptr<const UniqueFd> fd) {
  std::lock_guard lock(mutex_);
  fd_ = std::move(fd);
}

void SyncThread::Wake() {
  // The lock makes sure that the thread is either before its check or waiting.
  std::lock_guard lock(mutex_);
  changed_.notify_one();
}

void SyncThread::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || dirty_.load(std::memory_order_acquire); });
    // Lets a batch gather; a record waits at most this long plus the time of one fdatasync.
    if (!stop_) changed_.wait_for(lock, period_, [this] { return stop_; });
    const bool last = stop_;
    const std::shared_ptr<const UniqueFd> fd = fd_;
    dirty_.store(false, std::memory_order_release);
    lock.unlock();
    if (fd) {
      const int err = ::fdatasync(fd->get()) == 0 ? 0 : errno;
      error_.store(err, std::memory_order_release);
      // After a failure nobody writes, so nobody would mark it dirty: try again until the disk is back.
      if (err != 0 && !last) dirty_.store(true, std::memory_order_release);
    }
    if (last) return;
    lock.lock();
  }
}

}  // namespace beige::audit
