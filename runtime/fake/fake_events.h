#ifndef BEIGE_RUNTIME_FAKE_FAKE_EVENTS_H_
#define BEIGE_RUNTIME_FAKE_FAKE_EVENTS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/sandbox.h"

namespace beige::runtime::fake {

// Delivers events on a thread of its own, as a real engine client does: in order, never while its lock is held, and not after the
// subscription is gone. Thread-safe.
class FakeEvents {
 public:
  FakeEvents();
  ~FakeEvents();
  FakeEvents(const FakeEvents&) = delete;
  FakeEvents& operator=(const FakeEvents&) = delete;

  void Publish(Event event);
  void SetUp(bool up);  // the stream breaks, or stands again
  std::unique_ptr<SandboxRuntime::Subscription> Subscribe(std::string home, std::function<void(const Event&)> on_event,
                                                          std::function<void(bool)> on_state);

 private:
  struct Subscriber {
    std::string home;
    std::function<void(const Event&)> on_event;
    std::function<void(bool)> on_state;
  };
  class Handle;
  void Post(int only, std::function<void(const Subscriber&)> deliver);
  void Run();
  void Unsubscribe(int id);

  std::mutex mutex_;  // guards all below but the thread
  std::condition_variable changed_;
  struct Item {
    int only;  // 0 = all
    std::function<void(const Subscriber&)> deliver;
  };
  std::deque<Item> queue_;
  std::map<int, Subscriber> subscribers_;
  int next_id_ = 1;
  int delivering_ = 0;
  bool up_ = true;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace beige::runtime::fake

#endif
