#include "gateway/tools/reaper.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/spawn.h"
#include "base/unique_fd.h"
#include "gateway/tools/strays.h"

namespace beige {
namespace {
constexpr std::chrono::seconds kPatience{2};
}

struct Reaper::Child {
  Child(Loop& loop, UniqueFd fd, std::function<void(int)> fn) : pidfd(std::move(fd)), watch(loop, pidfd.get()), timer(loop), on_exit(std::move(fn)) {}
  UniqueFd pidfd;
  FdWatch watch;
  Timer timer;
  std::function<void(int)> on_exit;
};

Reaper::Reaper(Loop& loop) : loop_(loop) {}

Reaper::~Reaper() {
  for (const auto& [pid, child] : children_) {
    KillWithChildren(pid);
    ::waitpid(pid, nullptr, 0);
  }
}

Result<> Reaper::Watch(pid_t pid, std::function<void(int)> on_exit) {
  auto fd = OpenPidFd(pid);
  if (!fd) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return tl::make_unexpected(fd.error());
  }
  auto child = std::make_unique<Child>(loop_, std::move(*fd), std::move(on_exit));
  child->watch.OnReadable([this, pid] { Ended(pid); });
  children_[pid] = std::move(child);
  return {};
}

void Reaper::Ended(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, WNOHANG) != pid) return;
  const auto it = children_.find(pid);
  const auto on_exit = std::move(it->second->on_exit);
  children_.erase(it);
  if (on_exit) on_exit(status);
}

void Reaper::LetGo(pid_t pid) {
  const auto it = children_.find(pid);
  if (it == children_.end()) return;
  it->second->on_exit = nullptr;
  it->second->timer.Start(kPatience, [pid] { KillWithChildren(pid); });
}

void Reaper::Kill(pid_t pid) {
  // Not reaped yet, so the number is still this child's.
  if (children_.contains(pid)) KillWithChildren(pid);
}

}  // namespace beige
