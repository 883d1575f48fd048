#ifndef BEIGE_GATEWAY_TOOLS_REAPER_H_
#define BEIGE_GATEWAY_TOOLS_REAPER_H_

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>

#include "base/loop.h"
#include "base/result.h"

namespace beige {

// Waits for child processes on the loop, one pidfd each. A child that is let go and does not end within 2 s is killed.
class Reaper {
 public:
  explicit Reaper(Loop& loop);
  ~Reaper();  // kills what is left

  // `on_exit` gets the wait status, once.
  Result<> Watch(pid_t pid, std::function<void(int)> on_exit);
  void LetGo(pid_t pid);  // nobody waits for it any more
  void Kill(pid_t pid);

 private:
  struct Child;
  void Ended(pid_t pid);

  Loop& loop_;
  std::map<pid_t, std::unique_ptr<Child>> children_;
};

}  // namespace beige

#endif
