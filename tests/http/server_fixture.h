#ifndef BEIGE_TESTS_HTTP_SERVER_FIXTURE_H_
#define BEIGE_TESTS_HTTP_SERVER_FIXTURE_H_

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "http/http_server.h"
#include "tests/http/raw_client.h"

namespace beige::http_test {

// A value that one thread sets and another waits for.
template <typename T>
class Arrival {
 public:
  void Set(T value) {
    std::lock_guard lock(mutex_);
    value_ = std::move(value);
    arrived_ = true;
    changed_.notify_all();
  }
  // nullopt after 10 s.
  std::optional<T> Wait(std::chrono::milliseconds limit = std::chrono::seconds(10)) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, limit, [this] { return arrived_; })) return std::nullopt;
    return value_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool arrived_ = false;
  T value_{};
};

// A thread that does one thing after the other.
class Worker {
 public:
  ~Worker() {
    Do(nullptr);
    thread_.join();
  }
  void Do(std::function<void()> task) {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }

 private:
  void Run() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !tasks_.empty(); });
      const auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      if (!task) return;
      task();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::thread thread_{[this] { Run(); }};
};

// A server whose paths do what its tests need:
//   /echo answers method, path, query and body; /throw, /forget misbehave; /block holds the server's thread; /elsewhere is answered by another thread; /later keeps its
//   responder for the test.
class ServerFixture : public ::testing::Test {
 protected:
  void Start(http::Limits limits = {}) {
    auto server = http::Server::Start("127.0.0.1", 0, limits, [this](http::Request request, std::shared_ptr<http::Responder> responder) {
      Handle(std::move(request), std::move(responder));
    });
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
  }
  uint16_t port() const { return server_->port(); }

  virtual void Handle(http::Request request, std::shared_ptr<http::Responder> responder) {
    if (request.path == "/throw") throw std::runtime_error("on purpose");
    if (request.path == "/forget") return;
    if (request.path == "/block") {
      blocking_.Set(true);
      unblocked_.wait();
    }
    if (request.path == "/elsewhere") return elsewhere_.Do([responder] { responder->Reply({}); });
    if (request.path.starts_with("/later")) {
      {
        std::lock_guard lock(mutex_);
        kept_[request.path] = responder;
        if (kept_.size() == wanted_) all_kept_.Set(true);
      }
      later_.Set(responder);  // last: whoever waited for it may let go of all that is kept
      return;
    }
    http::Response response;
    response.content_type = "text/plain";
    response.body = request.method + " " + request.path + "?" + request.query + " " + request.body;
    responder->Reply(std::move(response));
  }

  Arrival<std::shared_ptr<http::Responder>> later_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<http::Responder>> kept_;
  size_t wanted_ = 0;
  Arrival<bool> all_kept_;
  Arrival<bool> blocking_;
  std::future<void> unblocked_;
  Worker elsewhere_;
  std::unique_ptr<http::Server> server_;  // last, so that it stops before what its handler uses goes
};

}  // namespace beige::http_test

#endif
