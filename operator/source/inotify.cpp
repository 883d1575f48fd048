#include "operator/source/inotify.h"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace beige {
namespace {
constexpr uint32_t kMask = IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF |
                           IN_MOVE_SELF | IN_ONLYDIR;
}

Result<> Inotify::Open() {
  fd_.Reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  targets_.clear();
  if (!fd_) return Fail(Code::kExhausted, std::string("inotify: ") + std::strerror(errno));
  return {};
}

Result<> Inotify::Watch(const std::set<std::string>& directories) {
  for (auto it = targets_.begin(); it != targets_.end();) {
    if (directories.contains(it->first)) {
      ++it;
      continue;
    }
    ::inotify_rm_watch(fd_.get(), it->second.wd);
    it = targets_.erase(it);
  }
  for (const std::string& directory : directories) {
    struct stat info {};
    if (::stat(directory.c_str(), &info) != 0) {
      targets_.erase(directory);
      continue;
    }
    Target& target = targets_[directory];
    if (target.wd >= 0 && target.device == info.st_dev && target.inode == info.st_ino) continue;
    if (target.wd >= 0) ::inotify_rm_watch(fd_.get(), target.wd);
    target = {::inotify_add_watch(fd_.get(), directory.c_str(), kMask), info.st_dev, info.st_ino};
    if (target.wd < 0) {
      const int err = errno;
      targets_.erase(directory);
      if (err == ENOENT) continue;
      return Fail(Code::kExhausted, "inotify watch " + directory + ": " + std::strerror(err));
    }
  }
  return {};
}

std::vector<Inotify::Event> Inotify::Read() {
  std::vector<Event> events;
  alignas(inotify_event) char buffer[16384];
  for (;;) {
    const ssize_t n = ::read(fd_.get(), buffer, sizeof buffer);
    if (n <= 0) return events;
    for (const char* at = buffer; at < buffer + n;) {
      const auto* raw = reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + raw->len;
      Event event{"", raw->len > 0 ? std::string(raw->name) : std::string(), raw->mask};
      for (auto it = targets_.begin(); it != targets_.end(); ++it) {
        if (it->second.wd != raw->wd) continue;
        event.directory = it->first;
        if (raw->mask & IN_IGNORED) targets_.erase(it);  // the kernel dropped it; Watch() takes the new one
        break;
      }
      events.push_back(std::move(event));
    }
  }
}

}  // namespace beige
