#ifndef BEIGE_BASE_LOOP_H_
#define BEIGE_BASE_LOOP_H_

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>

namespace beige {

// An event loop of one thread: descriptors, timers, signals and posted functions. A small face of Boost.Asio, so that exactly one
// .cpp of base pays for its headers. Everything but Post() and Stop() is called on the loop's own thread (or before Run).
// Callbacks may destroy the very object that calls them.
class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void Run();  // until Stop()
  // Waits at most `timeout` for something to do and runs what is ready; true if anything ran. For tests that step.
  bool RunOnce(std::chrono::milliseconds timeout);
  void Stop();                          // thread-safe
  void Post(std::function<void()> fn);  // thread-safe; order of posting is kept

  // Calls `fn` with the number at each of the signals, for as long as the loop lives.
  void OnSignal(std::initializer_list<int> signals, std::function<void(int)> fn);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Readiness of one descriptor. Does not own it; destroy the watch before closing the descriptor.
class FdWatch {
 public:
  FdWatch(Loop& loop, int fd);
  ~FdWatch();
  FdWatch(const FdWatch&) = delete;
  FdWatch& operator=(const FdWatch&) = delete;

  // Level-like: `fn` runs each time the descriptor is readable (end of file and errors included) until it is replaced by nullptr.
  // A callback that leaves bytes unread is called again.
  void OnReadable(std::function<void()> fn);
  void OnWritable(std::function<void()> fn);  // set it only while there is something to write
  // Runs when both directions are gone, also while nothing is being read; for a socket whose peer may close only its writing side.
  void OnHangup(std::function<void()> fn);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

class Timer {
 public:
  explicit Timer(Loop& loop);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void Start(std::chrono::nanoseconds delay, std::function<void()> fn);  // replaces what was pending
  void StartEvery(std::chrono::nanoseconds period, std::function<void()> fn);
  void Cancel();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace beige

#endif
