#include "operator/reconcile/measure.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <utility>

#include "base/files.h"
#include "base/unique_fd.h"

namespace beige {
namespace {
constexpr size_t kIdLength = 64;

struct Walk {
  dev_t device = 0;
  time_t since = 0;
  int left = 0;
  int depth = 0;
  TreeUse use;

  void Count(const struct stat& info, int64_t names) {
    const int64_t bytes = static_cast<int64_t>(info.st_blocks) * 512 / names;
    const bool recent = info.st_ctim.tv_sec >= since;
    use.bytes.total += bytes;
    use.files.total += 1;
    if (!recent) return;
    use.bytes.recent += bytes;
    use.files.recent += 1;
  }
  void Cut() { use.bytes.cut = use.files.cut = true; }
};

void Measure(UniqueFd directory, Walk& walk, int depth) {
  const int raw = directory.get();
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(directory.Release()), ::closedir);
  if (!listing) return;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (--walk.left < 0) return walk.Cut();
    struct stat info {};
    if (::fstatat(raw, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || info.st_dev != walk.device) continue;
    const bool is_directory = S_ISDIR(info.st_mode);
    walk.Count(info, is_directory ? 1 : std::max<int64_t>(1, static_cast<int64_t>(info.st_nlink)));
    if (!is_directory) continue;
    if (depth >= walk.depth) {
      walk.Cut();
      continue;
    }
    UniqueFd inner(::openat(raw, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (inner) Measure(std::move(inner), walk, depth + 1);
  }
}

// Every entry is a link that leads to the file itself, name or not.
void MeasureLinks(const std::string& directory, Walk& walk, std::set<ino_t>& seen) {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(directory.c_str()), ::closedir);
  if (!listing) return;
  while (const dirent* entry = ::readdir(listing.get())) {
    if (entry->d_name[0] == '.') continue;
    if (--walk.left < 0) return walk.Cut();
    struct stat info {};
    if (::fstatat(::dirfd(listing.get()), entry->d_name, &info, 0) != 0 || info.st_dev != walk.device || info.st_nlink != 0) continue;
    if (seen.insert(info.st_ino).second) walk.Count(info, 1);
  }
}
}  // namespace

void TreeUse::Add(const TreeUse& other) {
  const auto add = [](DiskUse& to, const DiskUse& from) {
    to.total += from.total;
    to.recent += from.recent;
    to.cut = to.cut || from.cut;
  };
  add(bytes, other.bytes);
  add(files, other.files);
}

TreeUse MeasureTree(const std::string& path, SystemTime recent_since, const MeasureLimits& limits) {
  Walk walk{.since = std::chrono::system_clock::to_time_t(recent_since), .left = limits.entries, .depth = limits.depth, .use = {}};
  UniqueFd top(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!top || ::fstat(top.get(), &info) != 0) return {};
  walk.device = info.st_dev;
  Measure(std::move(top), walk, 0);
  return walk.use;
}

TreeUse MeasureHeld(const std::vector<pid_t>& pids, dev_t device, SystemTime recent_since, const MeasureLimits& limits) {
  Walk walk{.device = device, .since = std::chrono::system_clock::to_time_t(recent_since), .left = limits.entries, .depth = 0, .use = {}};
  std::set<ino_t> seen;
  for (const pid_t pid : pids) {
    const std::string process = "/proc/" + std::to_string(pid);
    MeasureLinks(process + "/fd", walk, seen);
    MeasureLinks(process + "/map_files", walk, seen);
  }
  return walk.use;
}

std::string ContainerOf(std::string_view cgroup) {
  std::string_view last;  // an engine may itself run in a container
  size_t length = 0;
  for (size_t i = 0; i <= cgroup.size(); ++i) {
    const char c = i < cgroup.size() ? cgroup[i] : '\n';
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) {
      ++length;
      continue;
    }
    if (length == kIdLength) last = cgroup.substr(i - kIdLength, kIdLength);
    length = 0;
  }
  return std::string(last);
}

std::map<std::string, std::vector<pid_t>> ContainerProcesses() {
  std::map<std::string, std::vector<pid_t>> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir("/proc"), ::closedir);
  if (!listing) return out;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    if (const auto [end, err] = std::from_chars(name.data(), name.data() + name.size(), pid); err != std::errc() || end != name.data() + name.size()) continue;
    std::string id = ContainerOf(ReadFile("/proc/" + std::string(name) + "/cgroup", 64u << 10).value_or(""));
    if (!id.empty()) out[std::move(id)].push_back(pid);
  }
  return out;
}

}  // namespace beige
