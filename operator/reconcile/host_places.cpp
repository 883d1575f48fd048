#include "operator/reconcile/host_places.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/files.h"

namespace beige {
namespace fs = std::filesystem;
namespace {
// What engines keep besides their sockets: images, layers and the files of every container.
constexpr std::array kEngineDirs{"/var/lib/docker", "/var/lib/containerd", "/var/lib/containers", "/var/lib/kubelet", "/run/docker",
                                 "/run/containerd", "/run/containers",     "/run/crio",           "/run/podman",      "/run/buildkit"};

bool IsKernels(const std::string& fs_type) {
  static constexpr std::array kTypes{"proc",    "sysfs",      "devtmpfs", "devpts", "cgroup",   "cgroup2", "securityfs",  "debugfs", "tracefs",
                                     "bpf",     "configfs",   "pstore",   "mqueue", "efivarfs", "nsfs",    "binfmt_misc", "fusectl", "selinuxfs",
                                     "smackfs", "rpc_pipefs", "autofs"};
  return std::find(kTypes.begin(), kTypes.end(), fs_type) != kTypes.end();
}
}  // namespace

std::optional<std::string> RealPath(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return std::nullopt;
  return real.string();
}

bool IsWithin(const std::string& inner, const std::string& outer) {
  if (outer == "/") return true;
  return inner == outer || (inner.size() > outer.size() && inner.starts_with(outer) && inner[outer.size()] == '/');
}

HostPlaces::HostPlaces() : mounts_(ParseMountInfo(ReadFile("/proc/self/mountinfo", 64u << 20).value_or(""))) {}

std::optional<Place> HostPlaces::Of(const std::string& real_path) const {
  struct statx info {};
  if (::statx(AT_FDCWD, real_path.c_str(), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_MNT_ID, &info) != 0) return std::nullopt;
  for (const MountInfo& mount : mounts_) {
    if (mount.id != info.stx_mnt_id || !IsWithin(real_path, mount.point)) continue;
    const std::string rest = mount.point == "/" ? real_path : real_path.substr(mount.point.size());
    const std::string path = (mount.root == "/" ? "" : mount.root) + (rest == "/" ? "" : rest);
    return Place{mount.device, path.empty() ? "/" : path, mount.fs_type};
  }
  return std::nullopt;
}

std::vector<std::string> HostPlaces::MountsBeneath(const std::string& real_path) const {
  std::vector<std::string> out;
  for (const MountInfo& mount : mounts_) {
    if (mount.point != real_path && IsWithin(mount.point, real_path)) out.push_back(mount.point);
  }
  return out;
}

std::string WhyNeverMounted(const std::string& real_path, const std::string& home, const std::vector<std::string>& engine_sockets) {
  if (real_path == "/") return "the whole host";
  const HostPlaces places;
  const std::optional<Place> asked = places.Of(real_path);
  if (!asked) return "its file system can't be told from /proc/self/mountinfo";
  if (IsKernels(asked->fs_type)) return "part of a " + asked->fs_type + " file system of the kernel's";
  // By path and by place: the one sees through mounts, the other through links.
  const auto same = [&](const std::string& path, bool beneath_too) {
    const auto real = RealPath(path);
    if (!real) return false;
    const auto at = places.Of(*real);
    if (IsWithin(*real, real_path) || (at && asked->Holds(*at))) return true;
    return beneath_too && (IsWithin(real_path, *real) || (at && at->Holds(*asked)));
  };
  // "/" is left out when asking what lies beneath it: then nothing could be mounted.
  if (same("/", false)) return "the whole host";
  for (const char* root : {"/proc", "/sys", "/dev"}) {
    if (same(root, true)) return std::string("part of ") + root + ", or holds it";
  }
  if (same(home, true)) return "part of the home, or holds it";
  for (const std::string& socket : engine_sockets) {
    // Also where an engine that is off would listen.
    const size_t slash = socket.rfind('/');
    const auto directory = RealPath(socket.substr(0, std::max<size_t>(slash, 1)));
    if (same(socket, true) || (directory && IsWithin(*directory + socket.substr(slash), real_path))) return "it holds an engine's socket, " + socket;
  }
  for (const char* directory : kEngineDirs) {
    if (same(directory, true)) return std::string("an engine's own, ") + directory + ", or holds it";
  }
  if (const auto beneath = places.MountsBeneath(real_path); !beneath.empty()) {
    return "it holds another mount, " + beneath.front() + ", which would be writable inside even if read-only was asked for; give that as a volume of its own";
  }
  return "";
}

}  // namespace beige
