#ifndef BEIGE_API_CONFIG_H_
#define BEIGE_API_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/llm_config.h"
#include "base/secret.h"

namespace beige {

struct Listen {
  std::string host = "127.0.0.1";
  uint16_t port = 0;  // 0 = any free port
  bool operator==(const Listen&) const = default;
};

// --- gateway.yaml (kind GatewayConfig) ---

enum class AuditSync { kNone, kBatch, kEach };

struct TokenConfig {
  std::string name;
  std::string file;                 // absolute
  std::vector<std::string> scopes;  // read, prompt, exec, approve, admin
  bool operator==(const TokenConfig&) const = default;
};

struct ToolConfig {
  std::string path;  // absolute folder with tool.yaml
  bool operator==(const ToolConfig&) const = default;
};

// What a tool's cell must be made of at least. kNamespaces always comes with a seccomp filter.
enum class Confinement { kNamespaces, kLandlock };

struct SkillConfig {
  std::string path;  // absolute folder
  bool operator==(const SkillConfig&) const = default;
};

struct LinkLimits {
  int64_t connections = 64;
  int64_t calls = 64;
  int64_t buffered_bytes = 8 << 20;
  bool operator==(const LinkLimits&) const = default;
};

struct GatewayConfig {
  Listen http{"127.0.0.1", 7433};
  std::vector<TokenConfig> tokens;  // empty: one token of all scopes in <home>/api-token
  Listen metrics{"127.0.0.1", 9433};
  AuditSync audit_sync = AuditSync::kBatch;
  int64_t audit_per_agent_bytes_per_day = 1LL << 30;
  std::chrono::milliseconds audit_keep{std::chrono::hours(24 * 90)};  // rotated files
  LinkLimits limits;
  std::map<std::string, ToolConfig> tools;
  Confinement min_confinement = Confinement::kNamespaces;
  std::map<std::string, SkillConfig> skills;
  LlmConfig llm;
  bool operator==(const GatewayConfig&) const = default;
};

// --- operator.yaml (kind OperatorConfig) ---

enum class EngineType { kAuto, kDocker, kPodman };

struct OperatorConfig {
  EngineType engine_type = EngineType::kAuto;
  std::string engine_socket;  // absolute; "" = DOCKER_HOST if unix://, then the usual places
  std::string default_image;  // "" = localhost/beige-sandbox:<version>
  int64_t default_cpu_millis = 1000;
  int64_t default_memory_bytes = 2LL << 30;
  std::vector<std::string> allowed_image_prefixes;  // empty = any image
  std::vector<std::string> allowed_volume_roots;    // absolute; empty = no volumes
  uint32_t uid_first = 200000;
  uint32_t uid_last = 265535;
  int64_t disk_min_free = 1LL << 30;  // of the home's disk
  Listen metrics{"127.0.0.1", 9434};
  std::chrono::milliseconds resync{60000};
  bool operator==(const OperatorConfig&) const = default;
};

// --- tool.yaml ---

enum class ToolNetwork { kNone, kHost };
enum class ToolWorkspace { kNone, kReadOnly, kReadWrite };

struct ToolManifest {
  std::string name;
  std::string description;
  std::vector<std::string> usage;
  std::vector<std::string> command;  // command[0] absolute, or looked up on the cell's PATH when it has no slash
  bool allow_shadow = false;
  bool stdin_open = true;
  std::chrono::milliseconds timeout{60000};
  ToolWorkspace workspace = ToolWorkspace::kNone;
  ToolNetwork network = ToolNetwork::kNone;
  bool accepts_untrusted_files = false;
  std::map<std::string, std::string> env;   // ${BEIGE_TOOL_DATA} and ${BEIGE_AGENT} are filled in per cell
  std::map<std::string, Secret> secrets;    // already resolved from the gateway's environment or a file
  std::vector<std::string> files;           // absolute, that secrets were read from
  std::string folder;                       // absolute folder of the manifest
  bool operator==(const ToolManifest&) const = default;
};

}  // namespace beige

#endif
