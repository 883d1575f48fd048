#ifndef BEIGE_OPERATOR_SOURCE_INOTIFY_H_
#define BEIGE_OPERATOR_SOURCE_INOTIFY_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace beige {

// One inotify instance over a set of directories. Exhausted when the user's instances or watches are used up (a sandbox of the same uid
// can do that): the caller then polls.
class Inotify {
 public:
  struct Event {
    std::string directory;  // as given to Watch; "" when events were lost
    std::string name;
    uint32_t mask = 0;
  };

  Result<> Open();
  bool is_open() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }

  // Makes the watched set exactly this. A directory whose path leads elsewhere by now is watched anew; absent ones are left out.
  Result<> Watch(const std::set<std::string>& directories);
  std::vector<Event> Read();  // everything that is there, without waiting

 private:
  struct Target {
    int wd = -1;
    uint64_t device = 0, inode = 0;
  };
  UniqueFd fd_;
  std::map<std::string, Target> targets_;
};

}  // namespace beige

#endif
