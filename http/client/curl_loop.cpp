#include "http/client/curl_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>
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

// The library says which sockets it waits for, and epoll says which of them are ready: a wake-up costs what is ready, not what is open.
struct CurlLoop::Impl {
  CURLM* multi = nullptr;
  UniqueFd epoll{::epoll_create1(EPOLL_CLOEXEC)};
  UniqueFd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::optional<Clock::time_point> library_timer;  // loop thread only
  std::unordered_set<int> watched;                 // loop thread only
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
    Wake();
    return true;
  }

  void Wake() {
    const uint64_t one = 1;
    if (::write(wake.get(), &one, sizeof one) < 0) return;  // full: it is awake
  }

  void Open() {
    multi = OpenMulti();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &Impl::OnSocket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &Impl::OnTimer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = wake.get();
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &event);
  }

  static int OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*) {
    const int poll = static_cast<Impl*>(self)->epoll.get();
    auto& watched = static_cast<Impl*>(self)->watched;
    if (what == CURL_POLL_REMOVE) {
      if (watched.erase(fd) > 0) ::epoll_ctl(poll, EPOLL_CTL_DEL, fd, nullptr);
      return 0;
    }
    epoll_event event{};
    event.events = ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0u) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0u);
    event.data.fd = fd;
    if (!watched.insert(fd).second && ::epoll_ctl(poll, EPOLL_CTL_MOD, fd, &event) == 0) return 0;
    ::epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
    return 0;
  }

  static int OnTimer(CURLM*, long ms, void* self) {
    auto& timer = static_cast<Impl*>(self)->library_timer;
    timer = ms < 0 ? std::optional<Clock::time_point>() : Clock::now() + std::chrono::milliseconds(ms);
    return 0;
  }

  // Waits, and lets the library work on what is ready or due.
  void Step() {
    std::array<epoll_event, 128> events;
    const int n = ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), NextTimeout());
    int active = 0;
    for (int i = 0; i < n; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      if (event.data.fd == wake.get()) {
        uint64_t count = 0;
        [[maybe_unused]] const ssize_t taken = ::read(wake.get(), &count, sizeof count);
        continue;
      }
      // An error or a hang-up alone is 0: the library looks itself, and reads what came before it.
      const int ready = ((event.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) | ((event.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0);
      curl_multi_socket_action(multi, event.data.fd, ready, &active);
    }
    if (library_timer && *library_timer <= Clock::now()) {
      library_timer.reset();
      curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &active);
    }
    ReadMessages();
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
    auto next = timers.empty() ? Clock::time_point::max() : timers.begin()->first;
    if (library_timer) next = std::min(next, *library_timer);
    if (next == Clock::time_point::max()) return 60'000;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(wait, 0, 60'000));
  }

  void Run() {
    thread_id = std::this_thread::get_id();
    while (RunPosted()) {
      RunTimers();
      Step();
    }
    while (!running.empty()) Finish(running.begin()->first, CURLE_ABORTED_BY_CALLBACK);
  }
};

CurlLoop::CurlLoop() : impl_(std::make_unique<Impl>()) {
  impl_->Open();
  impl_->thread = std::thread([impl = impl_.get()] { impl->Run(); });
}

CurlLoop::~CurlLoop() {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->Wake();
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
