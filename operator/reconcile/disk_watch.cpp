#include "operator/reconcile/disk_watch.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace beige {
namespace {
constexpr std::chrono::minutes kRecent{2};
constexpr std::chrono::seconds kWhileShort{2};
constexpr int64_t kLeastFiles = 16'384;

std::string Mebibytes(int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

DiskSpace FreeSpace(const std::string& path) {
  struct statvfs info {};
  DiskSpace space;
  if (::statvfs(path.c_str(), &info) != 0) return space;
  space.bytes = static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
  if (info.f_files == 0) return space;  // made as they are needed
  space.files = static_cast<int64_t>(info.f_favail);
  space.least_files = std::min<int64_t>(kLeastFiles, static_cast<int64_t>(info.f_files) / 16);
  return space;
}

std::string Hidden(const DiskPolicy::Stop& stop) {
  return stop.hidden > 0 ? " (most of it where it is not counted: beyond 200,000 files or 100 directories deep)" : "";
}
}  // namespace

DiskWatch::DiskWatch(Deps deps) : d_([&] {
  if (!deps.free_space) deps.free_space = [path = deps.paths.home()] { return FreeSpace(path); };
  return std::move(deps);
}()) {}

DiskWatch::Running DiskWatch::Measure(const Desired& desired) const {
  Running out;
  const SystemTime since = d_.clock.WallNow() - kRecent;
  const auto processes = ContainerProcesses();
  for (const auto& [key, agent] : desired.agents) {
    if (!agent.identity) continue;
    const std::string& uid = agent.identity->uid();
    const std::vector<std::string> containers = d_.index.Ids(uid);
    if (containers.empty() || !d_.pressure.Why(uid).empty()) continue;
    TreeUse use;
    for (const std::string& tree : {d_.paths.Workspace(key), d_.paths.ToolsData(uid), d_.paths.SessionsDir(key)}) use.Add(MeasureTree(tree, since));
    struct stat workspace {};
    if (::stat(d_.paths.Workspace(key).c_str(), &workspace) == 0) {
      for (const std::string& container : containers) {
        if (const auto pids = processes.find(container); pids != processes.end()) use.Add(MeasureHeld(pids->second, workspace.st_dev, since));
      }
    }
    out.keys[uid] = key;
    out.bytes[uid] = use.bytes;
    out.files[uid] = use.files;
  }
  return out;
}

void DiskWatch::StopForBytes(const DiskPolicy::Stop& stop, const AgentKey& key, int64_t free, int64_t least) {
  LogWarn("disk: stopping the sandbox whose files grew most", {{"agent", key.ToString()}, {"grew", Mebibytes(stop.grew)}, {"free", Mebibytes(free)}});
  d_.pressure.Stop(stop.uid, "less than operator.yaml's disk.minFree of " + Mebibytes(least) + " was free (" + Mebibytes(free) +
                                 "), and this agent's files grew most, by " + Mebibytes(stop.grew) + Hidden(stop) + "; make room, for example in " +
                                 d_.paths.Workspace(key) + ": it goes on when " + Mebibytes(2 * least) + " are free");
  d_.queue.Add(key);
}

void DiskWatch::StopForFiles(const DiskPolicy::Stop& stop, const AgentKey& key, int64_t free, int64_t least) {
  LogWarn("disk: stopping the sandbox that made most files", {{"agent", key.ToString()}, {"made", std::to_string(stop.grew)}, {"free", std::to_string(free)}});
  d_.pressure.Stop(stop.uid, "fewer than " + std::to_string(least) + " files could be made on the home's disk (" + std::to_string(free) +
                                 "), and this agent made most, " + std::to_string(stop.grew) + Hidden(stop) + "; remove some, for example in " +
                                 d_.paths.Workspace(key) + ": it goes on when " + std::to_string(2 * least) + " can be made");
  d_.queue.Add(key);
}

void DiskWatch::Run() {
  const int64_t least = d_.config.Copy()->disk_min_free;
  const DiskSpace free = d_.free_space();
  const bool bytes_short = DiskPolicy::IsShort(free.bytes, least);
  const bool files_short = DiskPolicy::IsShort(free.files, free.least_files);
  if (!bytes_short && free.bytes != INT64_MAX) bytes_.Forget(free.bytes);
  if (!files_short && free.files != INT64_MAX) files_.Forget(free.files);
  const auto desired = d_.desired.Copy();
  if (!desired) return;
  if (!bytes_short && !files_short) {
    said_ = false;
    if (!d_.pressure.Release()) return;
    LogInfo("disk: there is space again; what was stopped goes on", {{"free", Mebibytes(free.bytes)}});
    for (const auto& [key, agent] : desired->agents) d_.queue.Add(key);
    return;
  }
  d_.queue.AddAfter(kDiskKey, kWhileShort);
  const Running running = Measure(*desired);
  const auto by_bytes = bytes_short ? bytes_.Look(free.bytes, least, running.bytes) : std::nullopt;
  const auto by_files = files_short ? files_.Look(free.files, free.least_files, running.files) : std::nullopt;
  if (by_bytes) StopForBytes(*by_bytes, running.keys.at(by_bytes->uid), free.bytes, least);
  if (by_files) StopForFiles(*by_files, running.keys.at(by_files->uid), free.files, free.least_files);
  if (by_bytes || by_files || (free.bytes >= least && free.files >= free.least_files) || std::exchange(said_, true)) return;
  LogWarn("disk: little space is left, and no agent's files grow; free some",
          {{"free", Mebibytes(free.bytes)}, {"disk.minFree", Mebibytes(least)}, {"free files", std::to_string(free.files)}});
}

}  // namespace beige
