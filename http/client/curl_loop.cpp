#include "http/client/curl_loop.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "http/client/curl_exchange.h"

namespace beige::http::client {

using Clock = std::chrono::steady_clock;

std::string_view Outcome::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

struct CurlLoop::Impl {
  CURLM* multi = nullptr;
  std::mutex mutex;  // guards posted, stopping
  std::deque<std::function<void()>> posted;
  bool stopping = false;
  std::atomic<Id> next_id{1};
  std::map<Id, std::unique_ptr<Exchange>> running;         // loop thread only
  std::multimap<Clock::time_point, std::function<void()>> timers;  // loop thread only
  std::atomic<std::thread::id> thread_id{};
  std::thread thread;

  bool Post(std::function<void()> fn) {
    {
      std::lock_guard lock(mutex);
      if (stopping) return false;
      posted.push_back(std::move(fn));
    }
    curl_multi_wakeup(multi);
    return true;
  }

  void Begin(Id id, Transfer transfer) {
    auto exchange = std::make_unique<Exchange>(id, std::move(transfer));
    Exchange* raw = exchange.get();
    running.emplace(id, std::move(exchange));
    if (curl_multi_add_handle(multi, raw->easy()) != CURLM_OK) Finish(id, CURLE_FAILED_INIT);
  }

  // Out of the map before on_done, which may start or stop others.
  void Finish(Id id, CURLcode code) {
    auto it = running.find(id);
    if (it == running.end()) return;
    std::unique_ptr<Exchange> exchange = std::move(it->second);
    running.erase(it);
    curl_multi_remove_handle(multi, exchange->easy());
    exchange->Finish(code);
  }

  bool RunPosted() {  // false when the loop has to end
    std::deque<std::function<void()>> batch;
    bool stop = false;
    {
      std::lock_guard lock(mutex);
      batch.swap(posted);
      stop = stopping;
    }
    for (auto& fn : batch) fn();
    return !stop;
  }

  void RunTimers() {
    const auto now = Clock::now();
    while (!timers.empty() && timers.begin()->first <= now) {
      auto fn = std::move(timers.begin()->second);
      timers.erase(timers.begin());
      fn();
    }
  }

  void ReadMessages() {
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;  // the message dies with the handle
      Finish(Exchange::IdOf(message->easy_handle), code);
    }
  }

  int NextTimeout() const {
    if (timers.empty()) return 60'000;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(timers.begin()->first - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(wait, 0, 60'000));
  }

  void Run() {
    thread_id = std::this_thread::get_id();
    while (RunPosted()) {
      RunTimers();
      int active = 0;
      curl_multi_perform(multi, &active);
      ReadMessages();
      curl_multi_poll(multi, nullptr, 0, NextTimeout(), nullptr);
    }
    while (!running.empty()) Finish(running.begin()->first, CURLE_ABORTED_BY_CALLBACK);
  }
};

CurlLoop::CurlLoop() : impl_(std::make_unique<Impl>()) {
  impl_->multi = OpenMulti();
  impl_->thread = std::thread([impl = impl_.get()] { impl->Run(); });
}

CurlLoop::~CurlLoop() {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  curl_multi_wakeup(impl_->multi);
  impl_->thread.join();
  CloseMulti(impl_->multi);
}

CurlLoop::Id CurlLoop::Start(Transfer transfer) {
  const Id id = impl_->next_id++;
  // std::function wants a copyable callable; a Transfer owns a descriptor.
  auto shared = std::make_shared<Transfer>(std::move(transfer));
  if (!impl_->Post([impl = impl_.get(), id, shared] { impl->Begin(id, std::move(*shared)); })) {
    shared->on_done(Outcome{.ended = Ended::kStopped, .why = "the client is closing"});
  }
  return id;
}

void CurlLoop::Resume(Id id) {
  impl_->Post([impl = impl_.get(), id] {
    if (auto it = impl->running.find(id); it != impl->running.end()) curl_easy_pause(it->second->easy(), CURLPAUSE_CONT);
  });
}

void CurlLoop::Stop(Id id) {
  impl_->Post([impl = impl_.get(), id] { impl->Finish(id, CURLE_ABORTED_BY_CALLBACK); });
}

void CurlLoop::After(std::chrono::milliseconds delay, std::function<void()> fn) {
  impl_->Post([impl = impl_.get(), at = Clock::now() + delay, f = std::move(fn)]() mutable { impl->timers.emplace(at, std::move(f)); });
}

void CurlLoop::Post(std::function<void()> fn) { impl_->Post(std::move(fn)); }

void CurlLoop::Wait(const std::function<void()>& fn) {
  if (OnLoopThread()) return fn();
  std::mutex mutex;
  std::condition_variable done_cv;
  bool done = false;
  // Notified under the lock: these locals die as soon as the waiter sees `done`.
  const bool posted = impl_->Post([&] {
    fn();
    std::lock_guard lock(mutex);
    done = true;
    done_cv.notify_one();
  });
  if (!posted) return;
  std::unique_lock lock(mutex);
  done_cv.wait(lock, [&] { return done; });
}

bool CurlLoop::OnLoopThread() const { return impl_->thread_id.load() == std::this_thread::get_id(); }

}  // namespace beige::http::client
