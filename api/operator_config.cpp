#include <charconv>

#include "api/config_reader.h"
#include "api/quantity.h"
#include "api/schemas_compiled.h"
#include "base/unix_socket.h"

namespace beige {
namespace {

EngineType EngineOf(const std::string& word) { return word == "docker" ? EngineType::kDocker : word == "podman" ? EngineType::kPodman : EngineType::kAuto; }

std::string SocketOf(ConfigReader& reader, YamlNode node) {
  if (!node.IsString()) return "";
  if (node.text.starts_with("unix://")) node.text = node.text.substr(7);
  const std::string socket = reader.Path(node, "engine.socket");
  if (socket.empty()) return "";
  if (const auto fits = CheckSocketPath(socket); !fits) reader.problems().Add(node.mark, "engine.socket", fits.error().message);
  return socket;
}

bool UidFrom(std::string_view text, int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

void ReadUidRange(ConfigReader& reader, const YamlNode& node, OperatorConfig& config) {
  constexpr int64_t kHighest = 4294967294;
  int64_t first = 0;
  int64_t last = 0;
  bool read = false;
  if (node.IsString()) {
    const size_t dash = node.text.find('-');
    read = dash != std::string::npos && UidFrom(std::string_view(node.text).substr(0, dash), first) && UidFrom(std::string_view(node.text).substr(dash + 1), last);
  } else if (node.IsMap() && node.fields.size() == 2) {
    const YamlNode& low = node["first"];
    const YamlNode& high = node["last"];
    read = low.kind == YamlNode::Kind::kInt && high.kind == YamlNode::Kind::kInt;
    first = low.integer;
    last = high.integer;
  }
  if (!read || first < 1 || last < first || last > kHighest) {
    reader.problems().Want(node, "uidRange", "two uids from 1 to 4294967294 such as 200000-265535 or {first: 200000, last: 265535}");
    return;
  }
  config.uid_first = static_cast<uint32_t>(first);
  config.uid_last = static_cast<uint32_t>(last);
}

}  // namespace

Loaded<OperatorConfig> LoadOperatorConfig(std::string_view text, const std::string& file, const EnvLookup& env) {
  ConfigReader reader(text, file, "OperatorConfig", OperatorConfigSchema(), env);
  if (!reader.readable()) return {std::nullopt, reader.problems().Take()};
  const YamlNode& root = reader.root();
  OperatorConfig config;
  config.engine_type = EngineOf(root["engine"]["type"].text);
  config.engine_socket = SocketOf(reader, root["engine"]["socket"]);
  config.default_image = root["defaults"]["image"].text;
  const YamlNode& resources = root["defaults"]["resources"];
  config.default_cpu_millis = reader.Quantity(resources["cpu"], "defaults.resources.cpu", ParseCpu);
  config.default_memory_bytes = reader.Quantity(resources["memory"], "defaults.resources.memory", ParseMemory);
  for (const YamlNode& item : root["ceilings"]["imagePrefixes"].items) config.allowed_image_prefixes.push_back(item.text);
  const std::vector<YamlNode>& roots = root["volumes"]["allowedRoots"].items;
  for (size_t i = 0; i < roots.size(); ++i) {
    const std::string path = PathOf("volumes.allowedRoots", i);
    const std::string folder = reader.Path(roots[i], path);
    if (folder == "/") reader.problems().Want(roots[i], path, "a directory other than /");
    config.allowed_volume_roots.push_back(folder);
  }
  ReadUidRange(reader, root["uidRange"], config);
  config.disk_min_free = reader.Bytes(root["disk"]["minFree"], "disk.minFree", 1 << 20);
  config.metrics = reader.ListenAt(root["metrics"]["listen"], "metrics.listen");
  config.resync = reader.Duration(root["resync"], "resync", std::chrono::seconds(1), std::chrono::hours(24));
  if (!reader.problems().empty()) return {std::nullopt, reader.problems().Take()};
  return {std::move(config), {}};
}

}  // namespace beige
