#include "runtime/fake/fake_events.h"

#include <utility>
#include <vector>

namespace beige::runtime::fake {

class FakeEvents::Handle : public SandboxRuntime::Subscription {
 public:
  Handle(FakeEvents& events, int id) : events_(events), id_(id) {}
  ~Handle() override { events_.Unsubscribe(id_); }

 private:
  FakeEvents& events_;
  const int id_;
};

FakeEvents::FakeEvents() : thread_([this] { Run(); }) {}

FakeEvents::~FakeEvents() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FakeEvents::Post(int only, std::function<void(const Subscriber&)> deliver) {
  {
    std::lock_guard lock(mutex_);
    queue_.push_back({only, std::move(deliver)});
  }
  changed_.notify_all();
}

void FakeEvents::Publish(Event event) {
  {
    std::lock_guard lock(mutex_);
    if (!up_) return;  // what happens while the stream is broken is lost, as with an engine
  }
  Post(0, [event = std::move(event)](const Subscriber& subscriber) {
    if (subscriber.home == event.key.home && !event.key.uid.empty() && subscriber.on_event) subscriber.on_event(event);
  });
}

void FakeEvents::SetUp(bool up) {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(up_, up) == up) return;
  }
  Post(0, [up](const Subscriber& subscriber) {
    if (subscriber.on_state) subscriber.on_state(up);
  });
}

std::unique_ptr<SandboxRuntime::Subscription> FakeEvents::Subscribe(std::string home, std::function<void(const Event&)> on_event,
                                                                    std::function<void(bool)> on_state) {
  int id = 0;
  bool up = false;
  {
    std::lock_guard lock(mutex_);
    id = next_id_++;
    up = up_;
    subscribers_[id] = {std::move(home), std::move(on_event), std::move(on_state)};
  }
  Post(id, [up](const Subscriber& subscriber) {
    if (subscriber.on_state) subscriber.on_state(up);
  });
  return std::make_unique<Handle>(*this, id);
}

void FakeEvents::Unsubscribe(int id) {
  std::unique_lock lock(mutex_);
  subscribers_.erase(id);
  if (std::this_thread::get_id() == thread_.get_id()) return;  // from within its own callback
  changed_.wait(lock, [&] { return delivering_ != id; });
}

void FakeEvents::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    const Item item = std::move(queue_.front());
    queue_.pop_front();
    std::vector<int> ids;
    for (const auto& [id, subscriber] : subscribers_) ids.push_back(id);
    for (const int id : ids) {
      const auto it = subscribers_.find(id);
      if (it == subscribers_.end() || (item.only != 0 && item.only != id)) continue;
      const Subscriber subscriber = it->second;
      delivering_ = id;
      lock.unlock();
      item.deliver(subscriber);
      lock.lock();
      delivering_ = 0;
      changed_.notify_all();
    }
  }
}

}  // namespace beige::runtime::fake
