#ifndef BEIGE_API_LOAD_H_
#define BEIGE_API_LOAD_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/agent.h"
#include "api/config.h"
#include "base/result.h"

namespace beige {

// One thing wrong with a file, for a person. Printed as `file:line:column: path: want ..., got ...`.
struct Problem {
  std::string file;
  int line = 0;  // 1-based; 0 = unknown
  int column = 0;
  std::string path;     // spec.sandbox.pidsLimit
  std::string message;  // value and what was wanted, with "did you mean"
  std::string reason;   // InvalidSpec | UnknownField
  bool operator==(const Problem&) const = default;
  std::string ToString() const;
};

std::string Join(const std::vector<Problem>& problems, std::string_view separator = "\n");

// One document of a file: an Agent, or what is known of one that is invalid.
struct LoadedAgent {
  std::optional<AgentKey> key;   // known even of an invalid document where its name can be read
  std::optional<Agent> agent;    // absent when problems is not empty
  std::vector<Problem> problems;
};

struct LoadedFile {
  std::vector<LoadedAgent> agents;
  std::vector<Problem> problems;  // of the file as a whole: syntax, encoding, size; then agents is empty
  bool empty = false;             // no document at all, or only comments
};

// All documents of one YAML (or JSON) text, validated against the embedded CRD schema and our own rules (duplicate names, mount paths,
// reserved environment names). Never throws. `file` is only for messages.
LoadedFile LoadAgents(std::string_view text, const std::string& file);

template <typename T>
struct Loaded {
  std::optional<T> value;
  std::vector<Problem> problems;
};

// `env` answers ${NAME}; nullopt = not set, which is a problem that names the variable. Relative paths are taken from the file's folder.
using EnvLookup = std::function<std::optional<std::string>(const std::string&)>;
EnvLookup ProcessEnv();

Loaded<GatewayConfig> LoadGatewayConfig(std::string_view text, const std::string& file, const EnvLookup& env);
Loaded<OperatorConfig> LoadOperatorConfig(std::string_view text, const std::string& file, const EnvLookup& env);
// `file` is <folder>/tool.yaml. Checks that command[0] exists and is executable when it is a path.
Loaded<ToolManifest> LoadToolManifest(std::string_view text, const std::string& file, const EnvLookup& env);

// Agents as JSON text, as `beige get -o json` and status files have them (apiVersion, kind, metadata, spec, status, local). Absent optional
// fields are omitted, so that EncodeSpec is canonical: equal specs give equal text.
std::string EncodeAgent(const Agent& agent, int indent = -1);
Result<Agent> DecodeAgent(std::string_view json);
std::string EncodeSpec(const AgentSpec& spec);
std::string EncodeStatus(const AgentStatus& status);
// The same as YAML for `-o yaml`.
std::string JsonToYaml(std::string_view json);

// Hash of what shapes the container (SandboxFields and egress), of canonical user-given fields, absent ones omitted: label spec-hash.
std::string ContainerSpecHash(const AgentSpec& spec);

}  // namespace beige

#endif
