#ifndef BEIGE_GATEWAY_SESSIONS_DISK_H_
#define BEIGE_GATEWAY_SESSIONS_DISK_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/loop.h"
#include "gateway/sessions/log_file.h"

namespace beige::sessions {

// Reading, listing and fdatasync off the core thread: one thread, in order.
class Disk {
 public:
  explicit Disk(Loop& loop);
  ~Disk();  // runs what was asked for; nothing is told any more; syncs what is left

  // `work` on the thread, then `then` with its value on the loop, unless this is gone by then.
  template <typename Work, typename Then>
  void Run(Work work, Then then) {
    Push([this, alive = alive_, work = std::move(work), then = std::move(then)]() mutable {
      auto value = std::make_shared<decltype(work())>(work());
      loop_.Post([alive, value, then = std::move(then)]() mutable {
        if (*alive) then(std::move(*value));
      });
    });
  }

  void SyncSoon(const std::shared_ptr<LogFile>& file);  // within 50 ms

 private:
  void Push(std::function<void()> task);
  void Main();

  Loop& loop_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // loop thread
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::shared_ptr<LogFile>> dirty_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace beige::sessions

#endif
