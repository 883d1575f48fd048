#ifndef BEIGE_RUNTIME_SANDBOX_H_
#define BEIGE_RUNTIME_SANDBOX_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace beige::runtime {

// What a sandbox is, without any engine's words. Implementations: docker/, fake/ (in memory, passes the same suite), later podman/, pods.

// Whose sandbox: written to labels, found again by labels, trusted only by uid.
struct SandboxKey {
  std::string home;        // id of the home, 4 characters in names, whole in the label
  std::string namespace_;
  std::string agent;
  std::string uid;
  auto operator<=>(const SandboxKey&) const = default;
};

// Logical mounts; the operator gives each a source that the engine can resolve (path map applied by the operator).
enum class MountKind { kWorkspace, kLink, kLaunchers, kDocs, kSkills, kBin, kPasswd, kGroup, kVolume };

struct Mount {
  MountKind kind = MountKind::kVolume;
  std::string source;  // path as the engine sees it; must exist (a missing source is an error, never a new root-owned directory)
  std::string target;  // absolute path inside
  bool read_only = true;
  // A directory that `source` lies in, or `source` itself: links up to there are the administrator's. None is followed from there on, since
  // who writes there is not trusted with what is mounted. "" = none anywhere.
  std::string root = "";
  bool operator==(const Mount&) const = default;
};

enum class Network { kNone, kOpen };  // kOpen: a bridge of the agent's own

struct SandboxSpec {
  SandboxKey key;
  std::string name;                    // container name: beige-<home4>-<uid8>-<agent>
  std::string instance;                // one value per Create, in label and BEIGE_INSTANCE
  std::string spec_hash;
  int template_version = 0;
  std::string image;                   // id or reference that FindImage resolved
  std::vector<std::string> command;    // PID 1; entrypoint and cmd of the image never run
  std::string working_dir = "/workspace";
  std::string hostname;
  uint32_t uid = 0;                    // never 0
  uint32_t gid = 0;
  std::map<std::string, std::string> env;  // complete: the image's own variables are neutralised or overridden where they matter
  int64_t memory_bytes = 0;            // memory + swap together
  int64_t cpu_millis = 0;
  int64_t pids_limit = 0;
  int64_t tmp_bytes = 0;               // size of the tmpfs at /tmp, counted in memory
  Network network = Network::kNone;
  std::string runtime_class;           // "" = engine's default
  std::vector<Mount> mounts;
  bool operator==(const SandboxSpec&) const = default;
};

enum class State { kCreated, kRunning, kPaused, kRestarting, kExited, kDead, kUnknown };

struct Observed {
  std::string id;
  std::string name;
  SandboxKey key;
  std::string instance;
  std::string spec_hash;
  int template_version = 0;
  State state = State::kUnknown;
  int exit_code = 0;
  bool oom_killed = false;
  std::string started_at;
  std::string finished_at;
  std::string image_id;
  std::string image_ref;
  bool operator==(const Observed&) const = default;
};

struct Image {
  std::string id;      // sha256:... ; imageDigest of a local image is its id
  std::string digest;  // repo digest, "" for local images
  bool operator==(const Image&) const = default;
};

struct EngineInfo {
  std::string type;         // docker | podman
  std::string version;
  std::string api_version;  // negotiated
  bool operator==(const EngineInfo&) const = default;
};

// One field that the live container does not have as asked: "user: want 200000:200000, have 0:0".
struct Mismatch {
  std::string field;
  std::string want;
  std::string have;
  bool operator==(const Mismatch&) const = default;
};

struct Stats {
  int64_t memory_bytes = 0;
  int64_t cpu_nanos = 0;  // cumulative
  int64_t pids = 0;
  bool operator==(const Stats&) const = default;
};

// An engine event about one of this home's sandboxes. It only says "look again". For network-connect and network-disconnect the key is
// empty, and `id` may be anybody's.
struct Event {
  std::string action;  // start, die, oom, pause, unpause, rename, destroy, kill, update, network-connect, ...
  SandboxKey key;
  std::string id;
};

using Progress = std::function<void(const std::string& line)>;

// Blocking calls, thread-safe; each has a deadline of its own and returns Timeout or Unavailable rather than hang.
// Errors: NotFound, Conflict (name taken), Unavailable (engine away), Timeout, Invalid (engine refused the request), Internal.
class SandboxRuntime {
 public:
  virtual ~SandboxRuntime() = default;

  virtual Result<EngineInfo> Ping() = 0;

  // Every sandbox of this home, by label, stopped ones included.
  virtual Result<std::vector<Observed>> List(const std::string& home) = 0;
  virtual Result<std::optional<Observed>> Observe(const std::string& id) = 0;
  // Whatever has this name, ours or not; nullopt if free. Not ours = key.uid is "".
  virtual Result<std::optional<Observed>> FindByName(const std::string& name) = 0;

  virtual Result<std::string> Create(const SandboxSpec& spec) = 0;  // id; makes the agent's bridge when asked
  virtual Result<> Start(const std::string& id) = 0;                // already running is success
  virtual Result<> Stop(const std::string& id, int grace_seconds) = 0;  // already stopped or gone is success
  virtual Result<> Unpause(const std::string& id) = 0;
  virtual Result<> Rename(const std::string& id, const std::string& name) = 0;
  virtual Result<> Remove(const std::string& id) = 0;               // by force, anonymous volumes and its bridge with it; gone is success
  // Removes what no sandbox of the home needs any more: bridges whose sandbox was removed by hand. For the start and a slow resync.
  virtual Result<> Prune(const std::string& home) {
    (void)home;
    return {};
  }

  // Reads the running container back (inspect, and /proc of its PID 1 where visible): user, capabilities, no-new-privileges, seccomp,
  // mounts, limits, runtime, network, init, read-only root, tmpfs, image volumes. Empty = all as asked.
  virtual Result<std::vector<Mismatch>> Verify(const SandboxSpec& spec, const std::string& id) = 0;

  virtual Result<std::optional<Image>> FindImage(const std::string& reference) = 0;
  virtual Result<> LoadImage(const std::string& tar_path, const Progress& progress) = 0;
  virtual Result<> PullImage(const std::string& reference, const Progress& progress) = 0;
  virtual Result<> BuildImage(const std::string& context_tar, const std::string& tag, const Progress& progress) = 0;

  virtual Result<Stats> ReadStats(const std::string& id) = 0;
  virtual Result<std::string> Logs(const std::string& id, int tail_lines) = 0;

  // Streams events of this home until the returned handle is destroyed. `on_event` runs on the runtime's thread, as does `on_state` with
  // true when the stream stands and false when it broke (it reconnects by itself with backoff).
  class Subscription {
   public:
    virtual ~Subscription() = default;
  };
  virtual std::unique_ptr<Subscription> Subscribe(const std::string& home, std::function<void(const Event&)> on_event,
                                                  std::function<void(bool up)> on_state) = 0;
};

}  // namespace beige::runtime

#endif
