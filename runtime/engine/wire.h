#ifndef BEIGE_RUNTIME_ENGINE_WIRE_H_
#define BEIGE_RUNTIME_ENGINE_WIRE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/sandbox.h"

namespace beige::runtime::engine {

// What the Docker-compatible API says, as values (API 1.41 to 1.51, Docker and Podman). Decoders fail (Internal) only for text that is no
// JSON of the expected shape; absent fields are empty.

struct MountPoint {
  std::string type;    // bind, tmpfs, volume
  std::string source;
  std::string target;
  bool read_only = true;
  int64_t size_bytes = 0;  // tmpfs
  std::string propagation{};  // of a live bind; "" = rprivate, which is what is asked for
  bool operator==(const MountPoint&) const = default;
};

struct Ulimit {
  std::string name;
  int64_t soft = 0;
  int64_t hard = 0;
  bool operator==(const Ulimit&) const = default;
};

// The variable part of a create request; EncodeCreate adds what is the same for every sandbox.
struct CreateRequest {
  std::string image;
  std::vector<std::string> entrypoint;
  std::string user;  // uid:gid
  std::string working_dir;
  std::string hostname;
  std::map<std::string, std::string> env;
  std::map<std::string, std::string> labels;
  std::string network_mode;
  std::string runtime;  // "" = the engine's default
  int64_t memory = 0;
  int64_t memory_swap = 0;
  int64_t nano_cpus = 0;
  int64_t pids_limit = 0;
  int64_t shm_size = 0;
  int oom_score_adj = 0;
  std::map<std::string, std::string> tmpfs;  // path -> options
  std::vector<Ulimit> ulimits;
  std::vector<MountPoint> mounts;
  bool operator==(const CreateRequest&) const = default;
};

// The body of POST /containers/create: all capabilities dropped, no-new-privileges, the engine's own seccomp profile, read-only root, no
// init, no restart, no health check, no command of the image, private namespaces, capped logs.
std::string EncodeCreate(const CreateRequest& request);

// The body of POST /networks/create for one agent's own bridge.
std::string EncodeBridge(const std::string& name, const std::map<std::string, std::string>& labels);

struct ContainerInspect {
  std::string id;
  std::string name;  // without the leading slash
  std::string image_id;
  std::string image_ref;
  std::map<std::string, std::string> labels;
  // State
  std::string status;
  bool running = false;
  bool paused = false;
  bool oom_killed = false;
  int exit_code = 0;
  int64_t pid = 0;
  std::string error;
  std::string started_at;
  std::string finished_at;
  // Config
  std::string user;
  std::vector<std::string> entrypoint;
  std::vector<std::string> cmd;
  std::vector<std::string> env;
  std::vector<std::string> volumes;
  std::vector<std::string> healthcheck;
  std::string working_dir;
  std::string hostname;
  std::string domain_name;
  std::string stop_signal;
  bool tty = false;
  bool open_stdin = false;
  // HostConfig
  std::string network_mode;
  std::string ipc_mode;
  std::string pid_mode;
  std::string uts_mode;
  std::string userns_mode;
  std::string cgroupns_mode;
  std::string runtime;
  std::string restart_policy;
  std::string log_type;
  std::map<std::string, std::string> log_options;
  bool privileged = false;
  bool read_only_root = false;
  bool publish_all_ports = false;
  bool oom_kill_disabled = false;
  bool init = false;
  std::vector<std::string> cap_add;
  std::vector<std::string> cap_drop;
  std::vector<std::string> security_options;
  std::vector<std::string> group_add;
  std::vector<std::string> binds;
  std::vector<std::string> volumes_from;
  std::vector<std::string> devices;  // of any kind: device, cgroup rule, GPU request
  std::vector<std::string> ports;    // published
  std::vector<std::string> sysctls;
  std::map<std::string, std::string> tmpfs;
  std::vector<Ulimit> ulimits;
  std::vector<std::string> masked_paths;
  std::vector<std::string> readonly_paths;
  std::vector<std::string> unasked;  // NAME=JSON of every other setting that is not empty
  int64_t memory = 0;
  int64_t memory_swap = 0;
  int64_t nano_cpus = 0;
  int64_t pids_limit = 0;
  int64_t shm_size = 0;
  int oom_score_adj = 0;
  // The rest
  std::vector<MountPoint> mounts;
  std::vector<std::string> networks;
};

Result<ContainerInspect> DecodeContainer(std::string_view body);
Observed ToObserved(const ContainerInspect& container);
State ToState(std::string_view status);

Result<std::vector<std::string>> DecodeIds(std::string_view body);  // of a list of containers
Result<std::string> DecodeId(std::string_view body);                // of a create: {"Id": ...}

struct ImageInspect {
  std::string id;
  std::vector<std::string> repo_digests;
  std::vector<std::string> volumes;
  std::map<std::string, std::string> env;
};
Result<ImageInspect> DecodeImage(std::string_view body);
Image ToImage(const ImageInspect& image);

struct NetworkInfo {
  std::string id;
  std::string name;
  std::map<std::string, std::string> labels;
};
Result<std::vector<NetworkInfo>> DecodeNetworks(std::string_view body);

// What an engine does where a create request says nothing.
struct EngineDefaults {
  std::string runtime;   // "" = not told
  bool seccomp = false;  // whether it has a seccomp profile of its own
  bool operator==(const EngineDefaults&) const = default;
};
Result<EngineDefaults> DecodeDefaults(std::string_view body);  // /info

Result<EngineInfo> DecodeVersion(std::string_view body);  // /version; api_version is left to the negotiation
Result<Stats> DecodeStats(std::string_view body);

// One line of /events. nullopt for what is no container event or carries no complete key. Podman's names become Docker's (died: die,
// remove: destroy). A network that somebody connects a container to, or disconnects, is "network-connect" or "network-disconnect" with
// the container's id and no key: engines don't tell labels there.
std::optional<Event> DecodeEvent(std::string_view line);

std::map<std::string, std::string> SplitEnv(const std::vector<std::string>& pairs);  // NAME=VALUE

}  // namespace beige::runtime::engine

#endif
