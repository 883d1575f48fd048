#include "base/loop.h"

#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>

namespace beige {
namespace asio = boost::asio;
using boost::system::error_code;

struct Loop::Impl {
  // The hint 1 says that one thread runs the context; posting from others stays legal.
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  struct Signals {
    Signals(asio::io_context& context, std::function<void(int)> callback) : set(context), fn(std::move(callback)) {}
    asio::signal_set set;
    std::function<void(int)> fn;
  };
  std::list<Signals> signals;

  static void Arm(Signals& s) {
    s.set.async_wait([&s](error_code ec, int number) {
      if (ec) return;
      s.fn(number);
      Arm(s);
    });
  }
};

Loop::Loop() : impl_(std::make_unique<Impl>()) {}
Loop::~Loop() = default;

void Loop::Run() { impl_->context.run(); }

bool Loop::RunOnce(std::chrono::milliseconds timeout) {
  impl_->context.restart();
  if (impl_->context.run_one_for(timeout) == 0) return false;
  impl_->context.poll();
  return true;
}

void Loop::Stop() { impl_->context.stop(); }

void Loop::Post(std::function<void()> fn) { asio::post(impl_->context, std::move(fn)); }

void Loop::OnSignal(std::initializer_list<int> signals, std::function<void(int)> fn) {
  auto& s = impl_->signals.emplace_back(impl_->context, std::move(fn));
  for (const int number : signals) s.set.add(number);
  Impl::Arm(s);
}

struct FdWatch::State : std::enable_shared_from_this<State> {
  State(Loop& loop, int fd) : descriptor(loop.impl().context, fd) {}

  using Descriptor = asio::posix::stream_descriptor;
  struct Direction {
    Descriptor::wait_type type;
    std::function<void()> fn;
    bool armed = false;
  };

  void Set(Direction& direction, std::function<void()> fn) {
    direction.fn = std::move(fn);
    if (direction.fn && !direction.armed) Arm(direction);
  }

  void Arm(Direction& direction) {
    direction.armed = true;
    descriptor.async_wait(direction.type, [self = shared_from_this(), &direction](error_code ec) {
      direction.armed = false;
      if (ec || self->closed || !direction.fn) return;
      // The callback may replace or clear itself, or destroy the watch: run what was there from the stack and put it back after.
      auto callback = std::move(direction.fn);
      direction.fn = nullptr;
      self->replaced = false;
      self->running = &direction;
      callback();
      self->running = nullptr;
      if (self->closed) return;
      if (!self->replaced) direction.fn = std::move(callback);
      if (direction.fn && !direction.armed) self->Arm(direction);
    });
  }

  Descriptor descriptor;
  Direction read{Descriptor::wait_read, nullptr};
  Direction write{Descriptor::wait_write, nullptr};
  Direction hangup{Descriptor::wait_error, nullptr};
  Direction* running = nullptr;
  bool replaced = false;
  bool closed = false;
};

FdWatch::FdWatch(Loop& loop, int fd) : state_(std::make_shared<State>(loop, fd)) {}

FdWatch::~FdWatch() {
  state_->closed = true;
  state_->read.fn = nullptr;
  state_->write.fn = nullptr;
  state_->hangup.fn = nullptr;
  state_->descriptor.release();  // cancels the waits; the descriptor stays with its owner
}

void FdWatch::OnReadable(std::function<void()> fn) {
  if (state_->running == &state_->read) state_->replaced = true;
  state_->Set(state_->read, std::move(fn));
}

void FdWatch::OnWritable(std::function<void()> fn) {
  if (state_->running == &state_->write) state_->replaced = true;
  state_->Set(state_->write, std::move(fn));
}

void FdWatch::OnHangup(std::function<void()> fn) {
  if (state_->running == &state_->hangup) state_->replaced = true;
  state_->Set(state_->hangup, std::move(fn));
}

struct Timer::State : std::enable_shared_from_this<State> {
  explicit State(Loop& loop) : timer(loop.impl().context) {}

  void Arm(std::chrono::nanoseconds delay) {
    timer.expires_after(delay);
    timer.async_wait([self = shared_from_this(), number = ++generation](error_code ec) {
      if (ec || number != self->generation) return;
      auto callback = self->fn;  // may restart, cancel or destroy this timer
      if (self->period.count() > 0) {
        self->Arm(self->period);
      } else {
        self->fn = nullptr;
      }
      callback();
    });
  }

  asio::steady_timer timer;
  std::function<void()> fn;
  std::chrono::nanoseconds period{0};
  unsigned long generation = 0;
};

Timer::Timer(Loop& loop) : state_(std::make_shared<State>(loop)) {}
Timer::~Timer() { Cancel(); }

void Timer::Start(std::chrono::nanoseconds delay, std::function<void()> fn) {
  state_->fn = std::move(fn);
  state_->period = {};
  state_->Arm(delay);
}

void Timer::StartEvery(std::chrono::nanoseconds period, std::function<void()> fn) {
  state_->fn = std::move(fn);
  state_->period = period;
  state_->Arm(period);
}

void Timer::Cancel() {
  ++state_->generation;
  state_->timer.cancel();
  state_->fn = nullptr;
}

}  // namespace beige
