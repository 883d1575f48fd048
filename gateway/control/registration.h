#ifndef BEIGE_GATEWAY_CONTROL_REGISTRATION_H_
#define BEIGE_GATEWAY_CONTROL_REGISTRATION_H_

#include <string>

#include "base/result.h"

namespace beige {

// Which PID 1 may hold an agent's control channel, on disk. Each announced start opens a window once; the first hello in it leaves the
// SHA-256 of its key; from then on only that key counts, until the next announcement.
class Registration {
 public:
  // An absent file: nobody registered, window closed.
  static Result<Registration> Load(std::string file);

  Result<> Open(const std::string& instance);  // fsynced
  // Denied for strangers. When this hello is the first of a window, its digest is on the disk before this returns.
  Result<> Admit(const std::string& key, const std::string& instance);
  bool window_open() const { return window_open_; }
  const std::string& instance() const { return instance_; }

 private:
  explicit Registration(std::string file) : file_(std::move(file)) {}
  Result<> Store(const std::string& digest, const std::string& instance, bool window_open);

  std::string file_;
  std::string digest_;    // hex; "" = none
  std::string instance_;  // as announced
  bool window_open_ = false;
};

}  // namespace beige

#endif
