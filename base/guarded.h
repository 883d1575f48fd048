#ifndef BEIGE_BASE_GUARDED_H_
#define BEIGE_BASE_GUARDED_H_

#include <mutex>
#include <utility>

namespace beige {

// Data and the mutex that protects it, in one place. No lock is held across I/O or a callback.
template <typename T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  template <typename F>
  decltype(auto) With(F&& f) {
    std::lock_guard lock(mutex_);
    return std::forward<F>(f)(value_);
  }
  template <typename F>
  decltype(auto) With(F&& f) const {
    std::lock_guard lock(mutex_);
    return std::forward<F>(f)(value_);
  }
  T Copy() const {
    std::lock_guard lock(mutex_);
    return value_;
  }
  void Set(T value) {
    std::lock_guard lock(mutex_);
    value_ = std::move(value);
  }

 private:
  mutable std::mutex mutex_;
  T value_{};
};

}  // namespace beige

#endif
