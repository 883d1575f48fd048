#ifndef BEIGE_API_AGENT_H_
#define BEIGE_API_AGENT_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/agent_ref.h"
#include "api/condition.h"

namespace beige {

inline constexpr const char* kApiVersion = "beige.dev/v1alpha1";

enum class OperatingMode { kRunning, kSuspended };
enum class PullPolicy { kIfNotPresent, kAlways, kNever };
enum class EgressMode { kNone, kOpen };
enum class RetentionPolicy { kRetain, kDelete };

struct NamedRef {
  std::string name;
  bool operator==(const NamedRef&) const = default;
};

// One of the models that may answer, by its name in gateway.yaml.
struct ModelChoice {
  std::string name;                    // provider/model
  std::string thinking_level = "off";  // off | minimal | low | medium | high
  bool operator==(const ModelChoice&) const = default;
};

// What every model can be offered beside granted tools; they run in the sandbox.
inline constexpr std::array<std::string_view, 4> kCoreTools = {"read", "write", "patch", "exec"};
std::vector<NamedRef> AllCoreTools();

struct EnvVar {
  std::string name;
  std::string value;
  bool operator==(const EnvVar&) const = default;
};

struct Volume {
  std::string name;
  std::string mount_path;
  std::string host_path;
  bool read_only = true;
  bool operator==(const Volume&) const = default;
};

struct SandboxFields {
  std::string image;  // "" = the operator's default
  PullPolicy image_pull_policy = PullPolicy::kIfNotPresent;
  std::optional<uint32_t> run_as_user;      // absent: chosen by the operator; 0 is refused
  std::optional<int64_t> cpu_millis;        // resources.limits.cpu in thousandths of a core; absent = the operator's default
  std::optional<int64_t> memory_bytes;      // resources.limits.memory; absent = the operator's default
  int64_t pids_limit = 512;
  std::vector<EnvVar> env;
  std::vector<Volume> volumes;
  bool operator==(const SandboxFields&) const = default;
};

struct AgentSpec {
  std::string description;
  std::vector<NamedRef> tools;   // deny by default: empty can call nothing
  std::vector<NamedRef> skills;
  std::vector<NamedRef> core_tools = AllCoreTools();
  std::vector<ModelChoice> model_choices;  // the first is asked, the others in its place; empty: nobody can talk to it
  std::string instructions;                // for the model
  OperatingMode operating_mode = OperatingMode::kRunning;
  SandboxFields sandbox;
  EgressMode egress_mode = EgressMode::kNone;
  RetentionPolicy workspace_retention = RetentionPolicy::kRetain;
  bool operator==(const AgentSpec&) const = default;
};

struct AgentMetadata {
  std::string name;
  std::string namespace_ = "default";
  std::map<std::string, std::string> labels;
  std::string uid;             // "" as read from a file; filled in by the operator's source
  int64_t generation = 0;      // +1 per change of spec; 0 as read from a file
  std::string creation_time;   // RFC 3339
  bool operator==(const AgentMetadata&) const = default;
};

struct SandboxStatus {
  std::string runtime;  // docker | podman
  std::string id;
  std::string name;
  std::string image;
  std::string image_digest;
  int template_version = 0;
  std::string start_time;
  int64_t restarts = 0;
  bool operator==(const SandboxStatus&) const = default;
};

struct AgentStatus {
  int64_t observed_generation = 0;
  int64_t grant_generation = 0;  // generation whose grant is in force in the gateway
  std::optional<SandboxStatus> sandbox;
  std::vector<Condition> conditions;
  bool operator==(const AgentStatus&) const = default;
};

// Host paths, only in what the local CLI prints (`local` in JSON).
struct AgentLocal {
  std::string socket;     // absolute path of gateway.sock
  std::string workspace;
  std::string source;     // file the Agent was read from
  bool operator==(const AgentLocal&) const = default;
};

struct Agent {
  AgentMetadata metadata;
  AgentSpec spec;
  AgentStatus status;
  std::optional<AgentLocal> local;
  bool operator==(const Agent&) const = default;

  AgentKey key() const { return {metadata.namespace_, metadata.name}; }
  AgentRef ref() const { return {metadata.namespace_, metadata.name, metadata.uid}; }
};

}  // namespace beige

#endif
