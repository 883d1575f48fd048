#include "gateway/tools/cell_recipe.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"

namespace beige {
namespace {
constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr const char* kTmpBytes = "268435456";  // of /tmp, of /scratch and of /dev/shm

using Args = std::vector<std::string>;
void Add(Args& args, std::initializer_list<std::string> more) { args.insert(args.end(), more); }

// Debian links /bin and the like into /usr; an older system has directories.
void AddSystem(Args& args) {
  Add(args, {"--ro-bind", "/usr", "/usr"});
  for (const char* path : {"/bin", "/sbin", "/lib", "/lib32", "/lib64"}) {
    struct stat st {};
    if (::lstat(path, &st) != 0) continue;
    std::error_code ec;
    if (S_ISLNK(st.st_mode)) {
      Add(args, {"--symlink", std::filesystem::read_symlink(path, ec).string(), path});
    } else {
      Add(args, {"--ro-bind", path, path});
    }
  }
}

void AddEtc(Args& args, ToolNetwork network) {
  for (const char* path : {"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ssl/certs", "/etc/localtime"}) {
    Add(args, {"--ro-bind-try", path, path});
  }
  if (network == ToolNetwork::kHost) {
    for (const char* path : {"/etc/resolv.conf", "/etc/hosts"}) Add(args, {"--ro-bind-try", path, path});
  }
  const std::pair<int, const char*> made[] = {{kCellPasswdFd, "/etc/passwd"}, {kCellGroupFd, "/etc/group"}, {kCellNsswitchFd, "/etc/nsswitch.conf"}};
  for (const auto& [fd, path] : made) Add(args, {"--perms", "0644", "--ro-bind-data", std::to_string(fd), path});
}

// A gateway that runs as root gives its cells root's uid, to which the files of /proc/sys belong: without a capability it could still
// write them (bubblewrap's own cover asks only whether the directory is writable). As container engines do: read-only or masked.
void AddProc(Args& args) {
  Add(args, {"--proc", "/proc"});
  for (const char* path : {"/proc/sys", "/proc/sysrq-trigger", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/mtrr"}) {
    Add(args, {"--ro-bind-try", path, path});
  }
  for (const char* path : {"/proc/kcore", "/proc/kmsg", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/latency_stats", "/proc/kpagecgroup",
                           "/proc/kpagecount", "/proc/kpageflags", "/proc/slabinfo", "/proc/vmallocinfo"}) {
    if (Exists(path)) Add(args, {"--ro-bind", "/dev/null", path});
  }
  for (const char* path : {"/proc/acpi", "/proc/scsi", "/proc/asound", "/proc/driver"}) {
    if (Exists(path)) Add(args, {"--perms", "0555", "--tmpfs", path, "--remount-ro", path});
  }
}

void AddEnvironment(Args& args, const CellSpec& spec) {
  const auto set = [&](const std::string& name, const std::string& value) { Add(args, {"--setenv", name, value}); };
  args.push_back("--clearenv");
  set("PATH", kPath);
  set("HOME", "/scratch");
  set("LANG", "C.UTF-8");
  for (const auto& [name, value] : spec.manifest->env) set(name, FillIn(value, spec.agent_name));
  set("BEIGE_AGENT", spec.agent_name);
  set("BEIGE_TOOL_DATA", "/data");
  if (spec.manifest->workspace != ToolWorkspace::kNone) set("BEIGE_WORKSPACE", "/workspace");
}
}  // namespace

std::vector<std::string> CellCommand(const std::string& bwrap, const CellSpec& spec) {
  const ToolManifest& manifest = *spec.manifest;
  Args args{bwrap, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "cell"};
  if (spec.takes_ids) Add(args, {"--info-fd", std::to_string(kCellInfoFd), "--userns-block-fd", std::to_string(kCellBlockFd)});
  if (manifest.network == ToolNetwork::kNone) args.push_back("--unshare-net");
  // Those that bubblewrap makes on the way to a mount are its user's alone, and a tool may have another uid.
  for (const char* path : {"/etc", "/etc/ssl", "/beige", "/beige/bin"}) Add(args, {"--perms", "0755", "--dir", path});
  AddSystem(args);
  AddEtc(args, manifest.network);
  AddProc(args);
  // bubblewrap's /dev is a tmpfs without a bound.
  Add(args, {"--dev", "/dev", "--size", kTmpBytes, "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"});
  for (const char* path : {"/tmp", "/scratch"}) Add(args, {"--size", kTmpBytes, "--perms", "1777", "--tmpfs", path});
  Add(args, {"--ro-bind", manifest.folder, "/tool", "--bind", spec.data_dir, "/data"});
  if (manifest.workspace != ToolWorkspace::kNone) {
    Add(args, {manifest.workspace == ToolWorkspace::kReadWrite ? "--bind" : "--ro-bind", spec.workspace, "/workspace"});
  }
  Add(args, {"--ro-bind", spec.sandbox_binary, "/beige/bin/beige-sandbox"});
  Add(args, {"--remount-ro", "/", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL"});
  if (spec.takes_ids) Add(args, {"--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_CHOWN"});
  AddEnvironment(args, spec);
  Add(args, {"--chdir", "/scratch", "--", "/beige/bin/beige-sandbox", "runner", "--fd", std::to_string(kCellSocketFd)});
  if (spec.takes_ids) Add(args, {"--as", std::to_string(spec.uid) + ":" + std::to_string(spec.gid)});
  return args;
}

std::string CellPasswd(uint32_t uid, uint32_t gid) {
  std::string text = uid == 0 ? "root:x:0:0:root:/scratch:/bin/sh\n" : "root:x:0:0:root:/:/usr/sbin/nologin\n";
  if (uid != 0) text += "tool:x:" + std::to_string(uid) + ":" + std::to_string(gid) + ":tool:/scratch:/bin/sh\n";
  return text + "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n";
}

std::string CellGroup(uint32_t gid) {
  std::string text = "root:x:0:\n";
  if (gid != 0) text += "tool:x:" + std::to_string(gid) + ":\n";
  return text + "nogroup:x:65534:\n";
}

std::string CellNsswitch() { return "passwd: files\ngroup: files\nhosts: files dns\n"; }

std::string DirectoryInWorkspace(std::string_view claim) {
  constexpr std::string_view kRoot = "/workspace";
  constexpr size_t kMaxPath = 4095;
  if (claim.starts_with('/')) {
    if (!claim.starts_with(kRoot) || (claim.size() > kRoot.size() && claim[kRoot.size()] != '/')) return ".";
    claim.remove_prefix(kRoot.size());
    claim.remove_prefix(std::min(claim.find_first_not_of('/'), claim.size()));
  }
  return claim.empty() || claim.size() > kMaxPath ? "." : std::string(claim);
}

std::vector<std::string> CommandInCell(const ToolManifest& manifest) {
  std::vector<std::string> command = manifest.command;
  std::string& program = command.front();
  const std::string prefix = manifest.folder + "/";
  if (program.starts_with(prefix)) {
    program = "/tool/" + program.substr(prefix.size());
  } else if (program.starts_with("./")) {
    program = "/tool/" + program.substr(2);
  }
  return command;
}

std::string FillIn(std::string_view value, std::string_view agent_name) {
  const std::pair<std::string_view, std::string_view> names[] = {{"${BEIGE_TOOL_DATA}", "/data"}, {"${BEIGE_AGENT}", agent_name}};
  std::string out(value);
  for (const auto& [name, with] : names) {
    for (size_t at = out.find(name); at != std::string::npos; at = out.find(name, at + with.size())) out.replace(at, name.size(), with);
  }
  return out;
}

}  // namespace beige
