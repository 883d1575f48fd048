#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <set>

#include "base/files.h"
#include "base/open_beneath.h"
#include "base/unique_fd.h"
#include "runtime/engine/process_facts.h"
#include "runtime/engine/verify.h"

namespace beige::runtime::engine {

namespace {

constexpr size_t kMost = 4u << 20;

// "" when the file is gone or not ours to read; what is then missing shows as a mismatch.
std::string ReadOr(const std::string& path) { return ReadFile(path, kMost).value_or(""); }

UniqueFd OpenInRoot(int root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
}

bool Describe(int fd, struct statx& out) {
  return statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, &out) == 0 && (out.stx_mask & STATX_MNT_ID) != 0;
}

std::map<std::string, TargetFact> FollowTargets(const std::string& proc, const Sources& sources) {
  std::map<std::string, TargetFact> out;
  // Not allowed without ptrace rights over the process: then only mountinfo speaks.
  const UniqueFd root(open((proc + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return out;
  for (const auto& [target, source] : sources) {
    const UniqueFd inside = OpenInRoot(root.get(), target);
    struct statx in{};
    struct statx from{};
    if (!inside || !Describe(inside.get(), in)) continue;
    // The engine follows links, as root. What is reached only by one that has no business there is not what was to be mounted.
    const UniqueFd outside = OpenBeneath(source.root, source.path, O_PATH);
    const bool same = outside && Describe(outside.get(), from) && in.stx_ino == from.stx_ino && in.stx_dev_major == from.stx_dev_major && in.stx_dev_minor == from.stx_dev_minor;
    out[target] = {in.stx_mnt_id, same};
  }
  return out;
}

std::string LinkText(const std::string& path) {
  char text[64];
  const ssize_t n = readlink(path.c_str(), text, sizeof text);
  return n > 0 ? std::string(text, static_cast<size_t>(n)) : "";
}

std::vector<std::string> SharedNamespaces(const std::string& proc) {
  std::vector<std::string> out;
  for (const char* name : {"cgroup", "ipc", "mnt", "net", "pid", "uts"}) {
    const std::string ours = LinkText(std::string("/proc/self/ns/") + name);
    if (!ours.empty() && ours == LinkText(proc + "/ns/" + name)) out.push_back(name);
  }
  return out;
}

// Device nodes, and directories that could hold some, which engines don't make by themselves.
std::vector<std::string> UnusualDevices(const std::string& proc) {
  static const std::set<std::string> kUsual{"console", "full", "mqueue", "null", "ptmx", "pts", "random", "shm", "tty", "urandom", "zero"};
  std::vector<std::string> out;
  const std::string dev = proc + "/root/dev";
  const auto names = ListDir(dev);
  if (!names) return out;
  for (const std::string& name : *names) {
    struct stat info{};
    if (kUsual.contains(name) || lstat((dev + "/" + name).c_str(), &info) != 0) continue;
    if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode) || S_ISDIR(info.st_mode)) out.push_back("/dev/" + name);
  }
  return out;
}

void AddIfHere(const char* path, ProcessFacts& facts) {
  if (Exists(path)) facts.hidden_here.emplace_back(path);
}

}  // namespace

Result<std::optional<ProcessFacts>> ReadProcess(pid_t pid, const std::string& container_id,
                                                const Sources& sources) {
  const std::string proc = "/proc/" + std::to_string(pid);
  const std::string cgroup = ReadOr(proc + "/cgroup");
  if (container_id.empty() || cgroup.find(container_id) == std::string::npos) return std::nullopt;
  ProcessFacts facts;
  facts.status = ParseStatus(ReadOr(proc + "/status"));
  facts.uid_map = ParseIdMap(ReadOr(proc + "/uid_map"));
  facts.gid_map = ParseIdMap(ReadOr(proc + "/gid_map"));
  facts.mounts = ParseMountInfo(ReadOr(proc + "/mountinfo"));
  facts.interfaces = ParseInterfaces(ReadOr(proc + "/net/dev"));
  const std::string limits = ReadOr(proc + "/limits");
  facts.core_limit = ParseHardLimit(limits, "Max core file size");
  facts.files_limit = ParseHardLimit(limits, "Max open files");
  facts.cgroup = ReadCgroup(cgroup);
  facts.targets = FollowTargets(proc, sources);
  facts.shared_namespaces = SharedNamespaces(proc);
  facts.devices = UnusualDevices(proc);
  for (const char* path : kMaskedPaths) AddIfHere(path, facts);
  for (const char* path : kReadonlyPaths) AddIfHere(path, facts);
  // All read from one process: a pid that went meanwhile gives halves.
  if (ReadOr(proc + "/cgroup") != cgroup) return Fail(Code::kConflict, "the process of container " + container_id + " ended while it was looked at");
  return facts;
}

}  // namespace beige::runtime::engine
