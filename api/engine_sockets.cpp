#include "api/engine_sockets.h"

#include <unistd.h>

#include <filesystem>
#include <set>

namespace beige {
namespace {
namespace fs = std::filesystem;

bool IsEngineName(const std::string& name) {
  static const std::set<std::string> kNames = {"docker.sock",     "podman.sock",       "containerd.sock", "containerd.sock.ttrpc",
                                               "crio.sock",       "buildkitd.sock",    "cri-dockerd.sock", "containerd-debug.sock",
                                               "docker-cli.sock", "docker.raw.sock",   "nerdctl.sock"};
  return kNames.contains(name);
}

// Lines of /proc/net/unix: Num RefCount Protocol Flags Type St Inode Path. Flags 00010000 = listening.
void AddListening(std::string_view table, std::vector<std::string>& out) {
  while (!table.empty()) {
    const size_t end = table.find('\n');
    const std::string_view line = table.substr(0, end);
    const size_t slash = line.find('/');
    if (slash != std::string_view::npos && line.find(" 00010000 ") < slash) {
      const std::string path(line.substr(slash));
      if (IsEngineName(fs::path(path).filename().string())) out.push_back(path);
    }
    if (end == std::string_view::npos) break;
    table.remove_prefix(end + 1);
  }
}
}  // namespace

std::vector<std::string> EngineSockets(const std::string& configured, const EnvLookup& env, std::string_view proc_net_unix) {
  std::vector<std::string> sockets;
  if (!configured.empty()) sockets.push_back(configured);
  for (const char* variable : {"DOCKER_HOST", "CONTAINER_HOST"}) {
    const auto value = env(variable);
    if (value && value->starts_with("unix://")) sockets.push_back(value->substr(7));
  }
  for (const char* path : {"/var/run/docker.sock", "/run/docker.sock", "/run/docker/containerd/containerd.sock", "/run/podman/podman.sock",
                           "/run/containerd/containerd.sock", "/run/crio/crio.sock", "/run/buildkit/buildkitd.sock"}) {
    sockets.emplace_back(path);
  }
  std::set<std::string> runtime_dirs{"/run/user/" + std::to_string(::getuid())};
  if (const auto dir = env("XDG_RUNTIME_DIR"); dir && !dir->empty()) runtime_dirs.insert(*dir);
  for (const auto& dir : runtime_dirs) {
    for (const char* name : {"/docker.sock", "/podman/podman.sock", "/containerd/containerd.sock", "/buildkit/buildkitd.sock"}) {
      sockets.push_back(dir + name);
    }
  }
  if (const auto home = env("HOME"); home && home->starts_with("/") && *home != "/") {
    for (const char* name : {"/.docker/run/docker.sock", "/.docker/desktop/docker.sock"}) sockets.push_back(*home + name);
  }
  AddListening(proc_net_unix, sockets);
  return sockets;
}

std::vector<std::string> DirectoriesOf(const std::vector<std::string>& sockets) {
  std::set<std::string> directories;
  for (const auto& socket : sockets) {
    std::error_code ec;
    // The socket itself may be a link to where the engine really listens: both directories count.
    const fs::path named = fs::canonical(fs::path(socket).parent_path(), ec);
    if (!ec && fs::is_directory(named, ec)) directories.insert(named.string());
    const fs::path real = fs::canonical(socket, ec);
    if (!ec) directories.insert(real.parent_path().string());
  }
  return {directories.begin(), directories.end()};
}

}  // namespace beige
