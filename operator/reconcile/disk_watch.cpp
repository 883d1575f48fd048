#include "operator/reconcile/disk_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "base/log.h"
#include "base/unique_fd.h"

namespace beige {
namespace {
constexpr int kMostDepth = 100;
constexpr int kMostEntries = 200'000;
constexpr std::chrono::minutes kRecent{2};
constexpr std::chrono::seconds kWhileShort{2};

struct Walk {
  dev_t device = 0;
  time_t since = 0;
  int left = kMostEntries;
  DiskUse use;
};

void Measure(UniqueFd directory, Walk& walk, int depth) {
  const int raw = directory.get();
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(directory.Release()), ::closedir);
  if (!listing) return;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (--walk.left < 0) return;
    struct stat info {};
    if (::fstatat(raw, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || info.st_dev != walk.device) continue;
    const int64_t bytes = static_cast<int64_t>(info.st_blocks) * 512;
    walk.use.bytes += bytes;
    if (info.st_ctim.tv_sec >= walk.since) walk.use.recent += bytes;
    if (!S_ISDIR(info.st_mode) || depth >= kMostDepth) continue;
    UniqueFd inner(::openat(raw, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (inner) Measure(std::move(inner), walk, depth + 1);
  }
}

std::string Mebibytes(int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

int64_t FreeSpace(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return INT64_MAX;  // not a word about space
  return static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
}
}  // namespace

DiskUse MeasureTree(const std::string& path, SystemTime recent_since) {
  Walk walk;
  walk.since = std::chrono::system_clock::to_time_t(recent_since);
  UniqueFd top(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!top || ::fstat(top.get(), &info) != 0) return {};
  walk.device = info.st_dev;
  Measure(std::move(top), walk, 0);
  return walk.use;
}

DiskWatch::DiskWatch(Deps deps) : d_([&] {
  if (!deps.free_space) deps.free_space = [path = deps.paths.home()] { return FreeSpace(path); };
  return std::move(deps);
}()) {}

void DiskWatch::Run() {
  const int64_t least = d_.config.Copy()->disk_min_free;
  const int64_t free = d_.free_space();
  const auto desired = d_.desired.Copy();
  if (!desired) return;
  if (!DiskPolicy::IsShort(free, least)) {
    policy_.Forget();
    said_ = false;
    if (!d_.pressure.Release()) return;
    LogInfo("disk: there is space again; what was stopped goes on", {{"free", Mebibytes(free)}});
    for (const auto& [key, agent] : desired->agents) d_.queue.Add(key);
    return;
  }
  d_.queue.AddAfter(kDiskKey, kWhileShort);
  std::map<std::string, DiskUse> uses;
  std::map<std::string, AgentKey> keys;
  for (const auto& [key, agent] : desired->agents) {
    if (!agent.identity || d_.index.Ids(agent.identity->uid()).empty() || !d_.pressure.Why(agent.identity->uid()).empty()) continue;
    uses[agent.identity->uid()] = MeasureTree(d_.paths.Workspace(key), d_.clock.WallNow() - kRecent);
    keys[agent.identity->uid()] = key;
  }
  const auto stop = policy_.Look(free, least, uses);
  if (!stop) {
    if (free < least && !std::exchange(said_, true)) {
      LogWarn("disk: little space is left, and no agent's workspace grows; free some", {{"free", Mebibytes(free)}, {"disk.minFree", Mebibytes(least)}});
    }
    return;
  }
  const AgentKey& key = keys[stop->uid];
  LogWarn("disk: stopping the sandbox whose workspace grew most", {{"agent", key.ToString()}, {"grew", Mebibytes(stop->grew)}, {"free", Mebibytes(free)}});
  d_.pressure.Stop(stop->uid, "less than operator.yaml's disk.minFree of " + Mebibytes(least) + " was free (" + Mebibytes(free) +
                                  "), and this agent's workspace grew most, by " + Mebibytes(stop->grew) + "; make room, for example in " +
                                  d_.paths.Workspace(key) + ": it goes on when " + Mebibytes(2 * least) + " are free");
  d_.queue.Add(key);
}

}  // namespace beige
