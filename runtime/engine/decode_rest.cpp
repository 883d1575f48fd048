#include <nlohmann/json.hpp>

#include "runtime/engine/json_read.h"
#include "runtime/engine/labels.h"
#include "runtime/engine/wire.h"

namespace beige::runtime::engine {

std::map<std::string, std::string> SplitEnv(const std::vector<std::string>& pairs) {
  std::map<std::string, std::string> out;
  for (const std::string& pair : pairs) {
    const size_t sign = pair.find('=');
    out[pair.substr(0, sign)] = sign == std::string::npos ? "" : pair.substr(sign + 1);
  }
  return out;
}

Result<ImageInspect> DecodeImage(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  ImageInspect out;
  out.id = Text(json, "Id");
  if (out.id.empty()) return Fail(Code::kInternal, "image inspect: the engine's answer has no Id");
  if (!out.id.starts_with("sha256:")) out.id.insert(0, "sha256:");  // Podman leaves it out
  out.repo_digests = Texts(json, "RepoDigests");
  out.volumes = Keys(At(json, "Config"), "Volumes");
  out.env = SplitEnv(Texts(At(json, "Config"), "Env"));
  return out;
}

Image ToImage(const ImageInspect& image) {
  Image out{image.id, ""};
  if (!image.repo_digests.empty()) {
    const std::string& first = image.repo_digests.front();
    if (const size_t at = first.find('@'); at != std::string::npos) out.digest = first.substr(at + 1);
  }
  return out;
}

Result<std::vector<NetworkInfo>> DecodeNetworks(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_array()) return Fail(Code::kInternal, "networks: the engine's answer is no JSON array");
  std::vector<NetworkInfo> out;
  for (const Json& network : json) out.push_back({Text(network, "Id"), Text(network, "Name"), TextMap(network, "Labels")});
  return out;
}

Result<EngineInfo> DecodeVersion(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  EngineInfo out{"docker", Text(json, "Version"), ""};
  if (out.version.empty()) return Fail(Code::kInternal, "version: the engine's answer has no Version");
  for (const Json& component : At(json, "Components")) {
    if (Text(component, "Name").starts_with("Podman")) out.type = "podman";
  }
  return out;
}

Result<Stats> DecodeStats(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return Fail(Code::kInternal, "stats: the engine's answer is no JSON object");
  const Json& memory = At(json, "memory_stats");
  const Json& detail = At(memory, "stats");
  // Page cache that can be dropped is no use of the agent's; cgroup v1 and v2 name it differently.
  int64_t cache = Integer(detail, "total_inactive_file");
  if (cache == 0) cache = Integer(detail, "inactive_file");
  Stats out;
  out.memory_bytes = Integer(memory, "usage");
  if (cache > 0 && cache < out.memory_bytes) out.memory_bytes -= cache;
  out.cpu_nanos = Integer(At(At(json, "cpu_stats"), "cpu_usage"), "total_usage");
  out.pids = Integer(At(json, "pids_stats"), "current");
  return out;
}

std::optional<Event> DecodeEvent(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (const std::string type = Text(json, "Type"); !type.empty() && type != "container") return std::nullopt;
  const Json& actor = At(json, "Actor");
  Event event;
  event.action = Text(json, "Action");
  if (event.action.empty()) event.action = Text(json, "status");
  event.id = Text(actor, "ID");
  if (event.id.empty()) event.id = Text(json, "id");
  event.key = KeyOf(TextMap(actor, "Attributes"));
  if (event.action == "died") event.action = "die";
  if (event.action == "remove") event.action = "destroy";
  if (event.action.empty() || event.id.empty() || event.key.uid.empty()) return std::nullopt;
  return event;
}

}  // namespace beige::runtime::engine
