#include "cli/watch.h"

#include <poll.h>
#include <sys/inotify.h>

#include <algorithm>
#include <cerrno>

#include "base/files.h"

namespace beige::cli {
namespace {
constexpr auto kPause = std::chrono::milliseconds(200);
constexpr uint32_t kMask = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF;

int MillisUntil(std::optional<SteadyTime> deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
}
}  // namespace

Watch::Watch() : fd_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}

void Watch::Add(const std::string& path) {
  if (fd_) ::inotify_add_watch(fd_.get(), path.c_str(), kMask);
}

bool Watch::AddSelf(const std::string& directory) {
  if (!fd_) return Exists(directory);
  if (::inotify_add_watch(fd_.get(), directory.c_str(), IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR) >= 0) return true;
  return errno != ENOENT && errno != ENOTDIR;
}

bool Watch::Wait(std::optional<SteadyTime> deadline) {
  int timeout = MillisUntil(deadline);
  if (!fd_) {
    const int pause = static_cast<int>(kPause.count());
    const bool whole = timeout < 0 || timeout > pause;
    ::poll(nullptr, 0, whole ? pause : timeout);
    return whole;
  }
  pollfd entry{fd_.get(), POLLIN, 0};
  if (::poll(&entry, 1, timeout) <= 0) return false;
  Clear();
  return true;
}

void Watch::Clear() {
  // Only that something changed matters: the caller reads everything again.
  alignas(inotify_event) char buffer[16384];
  while (fd_ && ::read(fd_.get(), buffer, sizeof buffer) > 0) {
  }
}

}  // namespace beige::cli
