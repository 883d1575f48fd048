#include "cli/supervise/gateway_view.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "base/files.h"
#include "api/engine_sockets.h"
#include "cli/supervise/mapped_exec.h"
#include "cli/supervise/sealed_exec.h"

namespace beige::cli {
namespace {
namespace fs = std::filesystem;

std::string RealPath(const std::string& path) {
  std::error_code ec;
  const fs::path real = fs::canonical(path, ec);
  return ec ? "" : real.string();
}

// What tells a directory from the one that had its name before: numbers of inodes are used again, so with its generation where the file
// system has one.
std::string FileHandle(const std::string& path) {
  alignas(file_handle) char buffer[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
  auto* handle = reinterpret_cast<file_handle*>(buffer);
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  if (::name_to_handle_at(AT_FDCWD, path.c_str(), handle, &mount, 0) == 0) return std::string(buffer, sizeof(file_handle) + handle->handle_bytes);
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino) : "";
}

OperatorConfig Configured(const HomePaths& paths, const EnvLookup& env) {
  const auto text = ReadFileIfExists(paths.OperatorYaml());
  if (!text || !*text) return {};
  return LoadOperatorConfig(**text, paths.OperatorYaml(), env).value.value_or(OperatorConfig());
}

// What must stay visible wherever it lies, beside what is named: programs and name resolution.
std::vector<std::string> SystemPlaces(const EnvLookup& env) {
  std::vector<std::string> needed = {"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/run/connman", "/run/nscd"};
  if (const std::string resolv = RealPath("/etc/resolv.conf"); !resolv.empty()) needed.push_back(fs::path(resolv).parent_path());
  std::string path = env("PATH").value_or("");
  for (size_t start = 0; start < path.size();) {
    const size_t end = std::min(path.find(':', start), path.size());
    if (end > start) needed.push_back(path.substr(start, end - start));
    start = end + 1;
  }
  return needed;
}

// What the gateway reads by name: its own programs, and what gateway.yaml and the environment name.
std::vector<std::string> NamedPlaces(const HomePaths& paths, const EnvLookup& env) {
  std::vector<std::string> needed = {ExecutableDir()};
  // Of a single file the directory, since who changes it may rename another one over it.
  const auto file = [&](const std::string& name) { needed.push_back(fs::path(name).parent_path()); };
  if (const auto bundle = env("SSL_CERT_FILE"); bundle && !bundle->empty()) file(*bundle);
  if (const auto text = ReadFileIfExists(paths.GatewayYaml()); text && *text) {
    const auto loaded = LoadGatewayConfig(**text, paths.GatewayYaml(), env);
    if (loaded.value) {
      for (const auto& [name, tool] : loaded.value->tools) {
        needed.push_back(tool.path);
        const std::string manifest = tool.path + "/tool.yaml";
        if (const auto words = ReadFileIfExists(manifest); words && *words) {
          if (const auto read = LoadToolManifest(**words, manifest, env); read.value) std::for_each(read.value->files.begin(), read.value->files.end(), file);
        }
      }
      for (const auto& [name, skill] : loaded.value->skills) needed.push_back(skill.path);
      for (const auto& token : loaded.value->tokens) file(token.file);
      std::for_each(loaded.value->llm.files.begin(), loaded.value->llm.files.end(), file);
    }
  }
  return needed;
}

// A tmux, a screen, an agent of keys, a bus: who connects to one does what that user may, and that user may use the engine. There is no
// list of all such sockets; these are the places that programs choose by themselves.
constexpr const char* kSocketPlaces[] = {"/tmp", "/var/tmp", "/run/user", "/run/tmux", "/run/screen"};

bool IsWithinAny(const std::string& path, const std::vector<std::string>& directories) {
  return std::any_of(directories.begin(), directories.end(), [&](const auto& directory) { return IsWithin(path, directory); });
}

// The link in a hidden directory by which `path` is reached, if it is: it must be there for the name to mean anything.
std::optional<std::pair<std::string, std::string>> LinkOnTheWay(const std::string& path, const std::vector<std::string>& hidden) {
  fs::path walked;
  for (const fs::path& part : fs::path(path)) {
    walked /= part;
    std::error_code ec;
    if (!fs::is_symlink(walked, ec)) continue;
    if (!IsWithinAny(walked, hidden)) return std::nullopt;
    return std::pair(walked.string(), RealPath(walked));
  }
  return std::nullopt;
}

// A uid that nobody has: beside those of agents. nullopt when both neighbours of their range are somebody's.
std::optional<uint32_t> OwnUid(const OperatorConfig& config) {
  for (const uint64_t uid : {uint64_t{config.uid_first} - 1, uint64_t{config.uid_last} + 1}) {
    constexpr uint64_t kNobody = 65534;
    if (uid == 0 || uid >= UINT32_MAX - 1 || uid == kNobody) continue;
    const auto id = static_cast<uint32_t>(uid);
    if (::getpwuid(id) == nullptr && ::getgrgid(id) == nullptr && CanMapIds({id, 1})) return id;
  }
  return std::nullopt;
}

// Those that would be closed to another uid than root: the home, and what is named and not a part of the system. None within another.
std::vector<std::string> ToMap(const GatewayView& view, const std::vector<std::string>& named) {
  std::set<std::string> all(view.writable.begin(), view.writable.end());  // sorted: what holds comes before what is held
  all.insert(view.home);
  for (const auto& path : named) {
    const std::string real = RealPath(path);
    if (!real.empty() && real != "/" && real != "/etc" && !IsWithin(real, "/usr") && !IsWithin(real, "/dev") && !IsWithin(real, "/proc")) all.insert(real);
  }
  std::vector<std::string> out;
  for (const auto& path : all) {
    if (!IsWithinAny(path, out)) out.push_back(path);
  }
  return out;
}

size_t Depth(const std::string& path) { return path == "/" ? 0 : static_cast<size_t>(std::count(path.begin(), path.end(), '/')); }
}  // namespace

bool IsWithin(const std::string& path, const std::string& directory) {
  if (directory == "/") return true;
  return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

Result<GatewayView> DescribeGatewayView(const HomePaths& paths, const EnvLookup& env) {
  GatewayView view;
  view.as_root = ::geteuid() == 0;
  view.home = RealPath(paths.home());
  for (const auto& directory : {paths.Workspaces(), paths.Sessions(), paths.LogsDir(), paths.DataGateway(), paths.RunDir()}) {
    view.writable.push_back(RealPath(directory));
  }
  view.guarded.push_back(view.writable.back() + paths.SupervisorLock().substr(paths.RunDir().size()));
  const OperatorConfig config = Configured(paths, env);
  const std::string table = ReadFile("/proc/net/unix", 64u << 20).value_or("");
  view.masked = DirectoriesOf(EngineSockets(config.engine_socket, env, table));
  const IdRange agents{config.uid_first, config.uid_last - config.uid_first + 1};
  const std::vector<std::string> named = NamedPlaces(paths, env);
  if (view.as_root && CanMapIds(agents)) {
    const auto own = OwnUid(config);
    view.ids = {{0, own.value_or(0), 1}, {agents.first, agents.first, agents.count}};
    if (own) view.mapped = ToMap(view, named);
  }

  for (const auto& mask : view.masked) view.masked_ids.push_back(FileHandle(mask));

  std::vector<std::string> needed = SystemPlaces(env);
  needed.insert(needed.end(), named.begin(), named.end());
  needed.push_back(paths.home());
  for (const char* place : kSocketPlaces) {
    const std::string real = RealPath(place);
    // What is needed itself, not only something in it, stays as it is.
    const bool whole = real.empty() || IsWithin("/usr/bin", real) || IsWithin(real, view.home) ||
                       std::any_of(needed.begin(), needed.end(), [&](const auto& path) { return RealPath(path) == real; });
    if (!whole && std::find(view.hidden.begin(), view.hidden.end(), real) == view.hidden.end()) view.hidden.push_back(real);
  }

  std::set<std::string> kept{view.home};
  std::set<std::pair<std::string, std::string>> links;
  for (const auto& path : needed) {
    const std::string real = RealPath(path);
    if (real.empty()) continue;
    if ((IsWithinAny(real, view.masked) || IsWithinAny(real, view.hidden)) && !IsWithin(real, view.home)) kept.insert(real);
    if (const auto link = LinkOnTheWay(path, view.hidden); link && !IsWithin(link->first, view.home)) links.insert(*link);
  }
  // A link within what is kept is there already.
  for (const auto& link : links) {
    if (!std::any_of(kept.begin(), kept.end(), [&](const auto& path) { return IsWithin(link.first, path); })) view.links.push_back(link);
  }
  view.kept.assign(kept.begin(), kept.end());
  for (const auto& mask : view.masked) {
    const bool system = mask == "/" || IsWithin("/usr/bin", mask) || IsWithin("/proc/self", mask) || IsWithin(mask, "/dev") || IsWithin(mask, "/proc");
    const bool taken = kept.contains(mask) || std::find(view.writable.begin(), view.writable.end(), mask) != view.writable.end();
    if (system || taken) {
      return Fail(Code::kInvalid, "an engine's socket lies directly in " + mask + ", which the gateway needs; move the socket to a directory of its own");
    }
  }
  return view;
}

GatewayView AsRoot(GatewayView view) {
  if (!view.ids.empty()) view.ids[0].outside = 0;
  view.mapped.clear();
  return view;
}

bool HasOwnUid(const GatewayView& view) { return !view.ids.empty() && view.ids[0].outside != 0; }

std::vector<std::string> ViewCommand(const GatewayView& view, const std::vector<std::string>& more) {
  std::vector<std::string> command;
  GatewayView seen = view;
  if (HasOwnUid(view)) {
    command = MappedCommand({view.ids, view.mapped});
    // Where that uid comes to nothing there is nothing to hide, and bubblewrap would fail.
    const auto closed = [&](const std::string& path) { return !IsWithinAny(path, view.mapped) && !ClosedAbove(path).empty(); };
    for (auto* paths : {&seen.masked, &seen.hidden, &seen.kept}) std::erase_if(*paths, closed);
    // The directories on the way to one are made anew, open, in the hidden one.
    std::erase_if(seen.links, [&](const auto& link) { return !IsWithinAny(link.first, seen.hidden); });
  }
  command.push_back("bwrap");
  command.insert(command.end(), more.begin(), more.end());
  for (auto& argument : BubblewrapArguments(seen)) command.push_back(std::move(argument));
  return command;
}

std::vector<std::string> BubblewrapArguments(const GatewayView& view) {
  struct Mount {
    std::string path;
    std::vector<std::string> arguments;
  };
  std::vector<Mount> mounts;
  for (const auto& path : view.hidden) mounts.push_back({path, {"--tmpfs", path}});
  for (const auto& path : view.masked) mounts.push_back({path, {"--tmpfs", path}});
  for (const auto& [path, target] : view.links) mounts.push_back({path, {"--symlink", target, path}});
  for (const auto& path : view.kept) mounts.push_back({path, {"--ro-bind", path, path}});
  for (const auto& path : view.writable) mounts.push_back({path, {"--bind", path, path}});
  // The supervisor's: who could put another file there could have a second `beige up` on this home.
  for (const auto& path : view.guarded) mounts.push_back({path, {"--ro-bind-try", path, path}});
  std::stable_sort(mounts.begin(), mounts.end(), [](const Mount& a, const Mount& b) { return Depth(a.path) < Depth(b.path); });

  // No pid namespace: the gateway must see the pids of its peers. /proc stays writable, for the uid maps of the cells that it makes.
  std::vector<std::string> arguments = {"--unshare-user", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL"};
  if (view.as_root) {
    arguments.insert(arguments.end(), {"--uid", "0", "--gid", "0"});
    // Without it the kernel refuses to map uid 0 into the user namespace of a cell. It gives no power outside this namespace.
    arguments.insert(arguments.end(), {"--cap-add", "CAP_SETFCAP"});
    for (const char* capability : kSealCapabilities) arguments.insert(arguments.end(), {"--cap-add", capability});
    // To let a tool that works in an agent's workspace have that agent's uid; no other exists in this namespace.
    if (!view.ids.empty()) arguments.insert(arguments.end(), {"--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"});
  }
  // A /dev of its own: the host's holds its disks, which a gateway that runs as root could write.
  arguments.insert(arguments.end(), {"--ro-bind", "/", "/", "--dev", "/dev", "--remount-ro", "/dev", "--bind", "/proc", "/proc"});
  for (const auto& mount : mounts) arguments.insert(arguments.end(), mount.arguments.begin(), mount.arguments.end());
  for (const auto& path : view.hidden) arguments.insert(arguments.end(), {"--remount-ro", path});
  arguments.insert(arguments.end(), {"--chdir", view.home, "--"});
  if (view.as_root) {
    for (auto& argument : SealedCommand()) arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace beige::cli
