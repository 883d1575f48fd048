#include "runtime/engine/harden.h"

#include <sys/resource.h>

#include <algorithm>
#include <set>

#include "runtime/engine/labels.h"

namespace beige::runtime::engine {

namespace {

constexpr int64_t kMinimumMemory = 6 << 20;  // engines refuse less
constexpr int64_t kMostShm = 64 << 20;
constexpr int64_t kVolumeBytes = 64 << 10;
constexpr int kOomScore = 500;  // before anything of the host; jobs raise their own above it

tl::unexpected<Error> Wrong(const std::string& field, const std::string& want, const std::string& got) {
  return Fail(Code::kInvalid, "sandbox " + field + ": want " + want + ", got " + got);
}

bool IsCleanAbsolute(const std::string& path) {
  if (path.size() < 2 || path[0] != '/' || path.back() == '/') return false;
  for (const char* part : {"//", "/./", "/../"}) {
    if (path.find(part) != std::string::npos) return false;
  }
  return !path.ends_with("/.") && !path.ends_with("/..");
}

bool IsBeneath(const std::string& path, const std::string& parent) { return path.starts_with(parent + "/"); }

Result<> CheckLimits(const SandboxSpec& spec) {
  const auto number = [](int64_t value) { return std::to_string(value); };
  if (spec.uid == 0) return Wrong("user", "a uid above 0", "0");
  if (spec.memory_bytes < kMinimumMemory) return Wrong("memory", "at least 6 MiB", number(spec.memory_bytes) + " bytes");
  if (spec.cpu_millis <= 0) return Wrong("cpu", "more than 0", number(spec.cpu_millis) + "m");
  if (spec.pids_limit <= 0) return Wrong("pids limit", "more than 0", number(spec.pids_limit));
  if (spec.tmp_bytes <= 0 || spec.tmp_bytes > spec.memory_bytes) {
    return Wrong("/tmp size", "more than 0 and at most the memory of " + number(spec.memory_bytes) + " bytes", number(spec.tmp_bytes) + " bytes");
  }
  if (spec.command.empty()) return Wrong("command", "a program", "none");
  if (KeyOf(KeyLabels(spec.key)).uid.empty()) return Wrong("key", "home, namespace, agent and uid", "an empty one");
  if (!IsCleanAbsolute(spec.working_dir)) return Wrong("working directory", "an absolute path", "\"" + spec.working_dir + "\"");
  return {};
}

Result<> CheckMounts(const SandboxSpec& spec) {
  std::set<std::string> targets{"/tmp", "/proc", "/sys", "/dev"};
  for (const Mount& mount : spec.mounts) {
    if (!IsCleanAbsolute(mount.target)) return Wrong("mount", "an absolute target other than /", "\"" + mount.target + "\"");
    if (mount.source.empty() || mount.source[0] != '/') return Wrong("mount " + mount.target, "an absolute source", "\"" + mount.source + "\"");
    if (!targets.insert(mount.target).second) return Wrong("mount " + mount.target, "a target of its own", "one that is taken");
    for (const char* kernel : {"/proc", "/sys", "/dev"}) {
      if (IsBeneath(mount.target, kernel)) return Wrong("mount " + mount.target, "a target outside of /proc, /sys and /dev", mount.target);
    }
  }
  return {};
}

std::string CleanPath(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

Result<> CoverVolumes(const SandboxSpec& spec, const ImageInspect& image, CreateRequest& request) {
  std::set<std::string> covered{"/tmp"};
  for (const Mount& mount : spec.mounts) covered.insert(mount.target);
  for (const std::string& declared : image.volumes) {
    const std::string path = CleanPath(declared);
    if (!covered.insert(path).second) continue;
    for (const Mount& mount : spec.mounts) {
      if (IsBeneath(path, mount.target)) {
        return Fail(Code::kInvalid, "image " + spec.image + ": VOLUME " + path + " lies beneath " + mount.target +
                                        ", which Beige mounts; build the image without that VOLUME");
      }
    }
    request.mounts.push_back({"tmpfs", "", path, true, kVolumeBytes});
  }
  return {};
}

// What an image sets for programs that PID 1 must not take for ours.
bool IsUnwanted(const std::string& variable) {
  return variable.starts_with("BEIGE_") || variable == "LD_PRELOAD" || variable == "LD_AUDIT";
}

}  // namespace

int64_t FileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return kMostFiles;
  return std::min(kMostFiles, static_cast<int64_t>(limit.rlim_max));
}

Result<CreateRequest> Harden(const SandboxSpec& spec, const ImageInspect& image, int64_t file_limit) {
  BEIGE_TRY(CheckLimits(spec));
  BEIGE_TRY(CheckMounts(spec));
  CreateRequest request;
  request.image = spec.image;
  request.entrypoint = spec.command;
  request.user = std::to_string(spec.uid) + ":" + std::to_string(spec.gid);
  request.working_dir = spec.working_dir;
  request.hostname = spec.hostname;
  request.env = spec.env;
  // A variable of the image can't be taken away by the API, only set to nothing.
  for (const auto& [name, value] : image.env) {
    if (IsUnwanted(name)) request.env.emplace(name, "");
  }
  request.labels = SandboxLabels(spec);
  request.network_mode = spec.network == Network::kOpen ? spec.name : "none";
  request.runtime = spec.runtime_class;
  request.memory = spec.memory_bytes;
  request.memory_swap = spec.memory_bytes;  // equal: no swap
  request.nano_cpus = spec.cpu_millis * 1'000'000;
  request.pids_limit = spec.pids_limit;
  request.shm_size = std::min(kMostShm, spec.memory_bytes / 4);
  request.oom_score_adj = kOomScore;
  request.tmpfs["/tmp"] = "rw,exec,nosuid,nodev,size=" + std::to_string(spec.tmp_bytes) + ",mode=1777";
  request.ulimits = {{"core", 0, 0}, {"nofile", file_limit, file_limit}};
  for (const Mount& mount : spec.mounts) request.mounts.push_back({"bind", mount.source, mount.target, mount.read_only, 0});
  BEIGE_TRY(CoverVolumes(spec, image, request));
  return request;
}

}  // namespace beige::runtime::engine
