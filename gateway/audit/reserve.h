#ifndef BEIGE_GATEWAY_AUDIT_RESERVE_H_
#define BEIGE_GATEWAY_AUDIT_RESERVE_H_

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace beige::audit {

// A file of allocated but unused blocks beside the log. When the disk is full it is given up piece by piece, so that the ends of running
// calls can still be written; no call begins until it is whole again.
class Reserve {
 public:
  static Result<Reserve> Open(const std::string& path, int64_t bytes);

  bool whole() const { return held_ == bytes_; }
  int64_t bytes() const { return bytes_; }
  bool Release(int64_t bytes);  // false when nothing is left
  Result<> Restore();

 private:
  UniqueFd fd_;
  int64_t bytes_ = 0;
  int64_t held_ = 0;
};

}  // namespace beige::audit

#endif
