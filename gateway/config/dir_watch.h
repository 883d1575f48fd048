#ifndef BEIGE_GATEWAY_CONFIG_DIR_WATCH_H_
#define BEIGE_GATEWAY_CONFIG_DIR_WATCH_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/loop.h"
#include "base/unique_fd.h"

namespace beige {

// Tells that something happened in any of a set of directories (inotify). Loop thread only.
// Best effort: instances are counted per user and may be used up, and remote file systems don't report; the owner polls as well.
class DirWatch {
 public:
  DirWatch(Loop& loop, std::function<void()> on_change);
  DirWatch(const DirWatch&) = delete;
  DirWatch& operator=(const DirWatch&) = delete;

  // Makes the watched set exactly this. Absent ones are left out until they are named again.
  void Set(const std::set<std::string>& directories);
  bool works() const { return static_cast<bool>(fd_); }

 private:
  void OnReadable();

  std::function<void()> on_change_;
  UniqueFd fd_;
  std::unique_ptr<FdWatch> watch_;
  std::map<std::string, int> watches_;  // directory -> watch descriptor
};

}  // namespace beige

#endif
