#ifndef BEIGE_BASE_SECRET_H_
#define BEIGE_BASE_SECRET_H_

#include <string>
#include <utility>

namespace beige {

// A value that must not reach a log, an error text, the audit or a core dump. No <<, no JSON codec; Reveal() is easy to grep.
// The memory is wiped when the value goes.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept : value_(std::move(other.value_)) { other.Wipe(); }
  Secret& operator=(const Secret&) = default;
  Secret& operator=(Secret&& other) noexcept {
    Wipe();
    value_ = std::move(other.value_);
    other.Wipe();
    return *this;
  }
  ~Secret() { Wipe(); }

  const std::string& Reveal() const { return value_; }
  bool empty() const { return value_.empty(); }
  // Takes as long for a wrong value as for the right one.
  bool EqualsConstantTime(const std::string& other) const;

  bool operator==(const Secret&) const = default;

 private:
  void Wipe();
  std::string value_;
};

}  // namespace beige

#endif
