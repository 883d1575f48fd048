#include "gateway/config/dir_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <utility>

namespace beige {
namespace {
constexpr uint32_t kMask =
    IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
}

DirWatch::DirWatch(Loop& loop, std::function<void()> on_change) : on_change_(std::move(on_change)), fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  if (!fd_) return;
  watch_ = std::make_unique<FdWatch>(loop, fd_.get());
  watch_->OnReadable([this] { OnReadable(); });
}

void DirWatch::Set(const std::set<std::string>& directories) {
  if (!fd_) return;
  // A path may lead to another directory by now; adding the same inode again gives the same descriptor, so each is simply added anew.
  std::map<std::string, int> now;
  std::set<int> used;
  for (const std::string& directory : directories) {
    const int wd = ::inotify_add_watch(fd_.get(), directory.c_str(), kMask);
    if (wd < 0) continue;
    now[directory] = wd;
    used.insert(wd);
  }
  for (const auto& [directory, wd] : watches_) {
    if (!used.contains(wd)) ::inotify_rm_watch(fd_.get(), wd);
  }
  watches_ = std::move(now);
}

void DirWatch::OnReadable() {
  alignas(inotify_event) char buffer[16384];
  while (::read(fd_.get(), buffer, sizeof buffer) > 0) {
  }
  on_change_();
}

}  // namespace beige
