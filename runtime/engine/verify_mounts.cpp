#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "runtime/engine/mismatch_list.h"
#include "runtime/engine/verify.h"

namespace beige::runtime::engine {

namespace {

bool IsBeneath(const std::string& path, std::string_view parent) {
  return path.size() > parent.size() && path.starts_with(parent) && path[parent.size()] == '/';
}

std::string Describe(const MountFact& mount) {
  return mount.fs_type + " " + mount.root + (mount.Has("ro") ? " (read-only)" : " (writable)");
}

// What engines mount in every container.
bool IsUsual(const MountFact& mount) {
  static constexpr std::array kPlain{"/proc", "/dev", "/dev/pts", "/dev/mqueue", "/dev/shm", "/sys", "/sys/fs/cgroup"};
  const std::string& at = mount.point;
  if (std::find(kPlain.begin(), kPlain.end(), at) != kPlain.end()) {
    return at == "/sys" ? mount.Has("ro") : mount.fs_type != "ext4" && mount.fs_type != "overlay" && mount.fs_type != "xfs";
  }
  if (at == "/etc/resolv.conf" || at == "/etc/hostname" || at == "/etc/hosts" || at == "/run/.containerenv") return mount.Has("ro");
  // Masked and read-only paths: an empty file system, /dev/null, or the path itself made read-only.
  if (IsBeneath(at, "/proc") || IsBeneath(at, "/sys")) {
    const bool is_null = mount.root == "/null" && (mount.fs_type == "tmpfs" || mount.fs_type == "devtmpfs");
    return is_null || mount.Has("ro");
  }
  return false;
}

int64_t SizeOption(const MountFact& mount) {  // bytes; the kernel writes size=16384k
  for (const std::string& option : mount.super_options) {
    if (!option.starts_with("size=")) continue;
    int64_t size = -1;
    const auto [end, error] = std::from_chars(option.data() + 5, option.data() + option.size(), size);
    if (error != std::errc()) return -1;
    const char unit = end == option.data() + option.size() ? 'b' : *end;
    return size * (unit == 'k' ? 1024 : unit == 'm' ? 1024 * 1024 : unit == 'g' ? 1024 * 1024 * 1024 : 1);
  }
  return -1;
}

int64_t WantedSize(const std::string& options) {
  const size_t at = options.find("size=");
  int64_t size = 0;
  if (at != std::string::npos) std::from_chars(options.data() + at + 5, options.data() + options.size(), size);
  return size;
}

void CompareTmpfs(const std::string& target, const std::string& options, const MountFact* mount, MismatchList& out) {
  if (mount == nullptr || mount->fs_type != "tmpfs") {
    out.Add("mount " + target, "tmpfs", mount == nullptr ? "none" : Describe(*mount));
    return;
  }
  for (const char* flag : {"nosuid", "nodev"}) {
    if (!mount->Has(flag)) out.Add("mount " + target, flag, "without");
  }
  if (mount->Has("noexec") || mount->Has("ro")) out.Add("mount " + target, "writable, programs can run", "noexec or read-only");
  const int64_t pages = (WantedSize(options) + 4095) / 4096 * 4096;
  if (SizeOption(*mount) != pages) out.Add("size of " + target, Show(pages), Show(SizeOption(*mount)));
}

class MountTable {
 public:
  explicit MountTable(const ProcessFacts& facts) : facts_(facts) {}

  // The mount that the container sees at `target`; marks it as explained.
  const MountFact* Take(const std::string& target) {
    const auto followed = facts_.targets.find(target);
    const MountFact* found = nullptr;
    for (const MountFact& mount : facts_.mounts) {
      const bool hit = followed != facts_.targets.end() ? mount.id == followed->second.mount_id : mount.point == target;
      if (hit) found = &mount;  // the last one lies on top
    }
    if (found != nullptr) explained_.insert(found->id);
    return found;
  }

  void AddUnexplained(MismatchList& out) const {
    for (const MountFact& mount : facts_.mounts) {
      if (explained_.contains(mount.id) || IsUsual(mount)) continue;
      if (mount.point == "/") {
        if (!mount.Has("ro")) out.Add("mount /", "read-only", Describe(mount));
        continue;
      }
      out.Add("mount " + mount.point, "none", Describe(mount));
    }
  }

 private:
  const ProcessFacts& facts_;
  std::set<uint64_t> explained_;
};

// Masks and read-only paths of /proc and /sys, and the size of shared memory: an engine that ignores them says nothing.
void CompareKernelPaths(const CreateRequest& want, const ProcessFacts& have, MismatchList& out) {
  const auto find = [&](const std::string& point) {
    const auto it = std::find_if(have.mounts.rbegin(), have.mounts.rend(), [&](const MountFact& mount) { return mount.point == point; });
    return it == have.mounts.rend() ? nullptr : &*it;
  };
  for (const std::string& path : have.hidden_here) {
    const MountFact* mount = find(path);
    if (mount == nullptr || !IsUsual(*mount)) out.Add("live path " + path, "hidden or read-only", mount == nullptr ? "open" : Describe(*mount));
  }
  const MountFact* shm = find("/dev/shm");
  if (shm == nullptr || want.shm_size == 0) return;
  const int64_t pages = (want.shm_size + 4095) / 4096 * 4096;
  if (SizeOption(*shm) != pages) out.Add("size of /dev/shm", Show(pages), Show(SizeOption(*shm)));
}

}  // namespace

std::vector<Mismatch> CompareMounts(const CreateRequest& want, const ProcessFacts& have) {
  MismatchList out;
  MountTable table(have);
  for (const MountPoint& mount : want.mounts) {
    const MountFact* fact = table.Take(mount.target);
    const std::string wanted = mount.type + (mount.read_only ? " (read-only)" : " (writable)");
    // The root file system at a target means that nothing was mounted there.
    if (fact == nullptr || fact->point == "/" || fact->Has("ro") != mount.read_only) {
      out.Add("live mount " + mount.target, wanted, fact == nullptr ? "none" : Describe(*fact));
    } else if (mount.type == "tmpfs" && fact->fs_type != "tmpfs") {
      out.Add("live mount " + mount.target, wanted, Describe(*fact));
    }
    if (fact != nullptr && mount.type == "bind" && fact->propagates) out.Add("propagation of live mount " + mount.target, "private", "shared");
    const auto followed = have.targets.find(mount.target);
    if (followed != have.targets.end() && !followed->second.same_as_source) {
      out.Add("source of live mount " + mount.target, mount.source, "something else");
    }
  }
  for (const auto& [target, options] : want.tmpfs) CompareTmpfs(target, options, table.Take(target), out);
  CompareKernelPaths(want, have, out);
  table.AddUnexplained(out);
  return out.Take();
}

}  // namespace beige::runtime::engine
