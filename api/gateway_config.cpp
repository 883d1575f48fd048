#include "api/config_reader.h"
#include "api/llm_reader.h"
#include "api/schemas_compiled.h"

namespace beige {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

AuditSync SyncOf(const std::string& word) { return word == "none" ? AuditSync::kNone : word == "each" ? AuditSync::kEach : AuditSync::kBatch; }

std::vector<TokenConfig> TokensOf(ConfigReader& reader, const YamlNode& list) {
  std::vector<TokenConfig> out;
  for (size_t i = 0; i < list.items.size(); ++i) {
    const YamlNode& item = list.items[i];
    TokenConfig& token = out.emplace_back();
    token.name = item["name"].text;
    token.file = reader.Path(item["file"], PathOf("http.tokens", i) + ".file");
    for (const YamlNode& scope : item["scopes"].items) token.scopes.push_back(scope.text);
  }
  return out;
}

template <typename T>
std::map<std::string, T> FoldersOf(ConfigReader& reader, const char* key) {
  const YamlNode& map = reader.root()[key];
  reader.CheckNames(map, key);
  std::map<std::string, T> out;
  for (const YamlField& field : map.fields) out[field.key].path = reader.Path(field.value["path"], PathOf(PathOf(key, field.key), "path"));
  return out;
}

}  // namespace

Loaded<GatewayConfig> LoadGatewayConfig(std::string_view text, const std::string& file, const EnvLookup& env) {
  ConfigReader reader(text, file, "GatewayConfig", GatewayConfigSchema(), env);
  if (!reader.readable()) return {std::nullopt, reader.problems().Take()};
  const YamlNode& root = reader.root();
  GatewayConfig config;
  config.http = reader.ListenAt(root["http"]["listen"], "http.listen");
  config.tokens = TokensOf(reader, root["http"]["tokens"]);
  config.metrics = reader.ListenAt(root["metrics"]["listen"], "metrics.listen");
  config.audit_sync = SyncOf(root["audit"]["sync"].text);
  config.audit_per_agent_bytes_per_day = reader.Bytes(root["audit"]["perAgentBytesPerDay"], "audit.perAgentBytesPerDay", kMiB);
  config.limits.connections = root["limits"]["connections"].integer;
  config.limits.calls = root["limits"]["calls"].integer;
  config.limits.buffered_bytes = reader.Bytes(root["limits"]["bufferedBytes"], "limits.bufferedBytes", kMiB);
  config.tools = FoldersOf<ToolConfig>(reader, "tools");
  config.skills = FoldersOf<SkillConfig>(reader, "skills");
  config.llm = LlmOf(reader, root["llm"]);
  if (config.http.port != 0 && config.http == config.metrics) {
    reader.problems().Add(root["metrics"]["listen"].mark, "metrics.listen", "the address of http.listen; want another port");
  }
  if (!reader.problems().empty()) return {std::nullopt, reader.problems().Take()};
  return {std::move(config), {}};
}

}  // namespace beige
