#include "gateway/config/config_set.h"

#include "base/files.h"

namespace beige {
namespace {
void Append(std::vector<Problem>& to, std::vector<Problem> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// One manifest, or a problem that says why not.
void AddTool(const HomePaths& paths, const std::string& name, const ToolConfig& tool, const TextReader& read, const EnvLookup& env, ConfigSet& set,
             std::vector<Problem>& problems) {
  const std::string file = JoinPath(tool.path, "tool.yaml");
  const auto text = read(file);
  if (!text || !*text) {
    const std::string why = text ? "want a folder with tool.yaml, got " + tool.path + " which has none" : text.error().message;
    problems.push_back({paths.GatewayYaml(), 0, 0, "tools." + name + ".path", why, "InvalidSpec"});
    return;
  }
  auto loaded = LoadToolManifest(**text, file, env);
  Append(problems, std::move(loaded.problems));
  if (!loaded.value) return;
  if (loaded.value->name != name) {
    problems.push_back({file, 0, 0, "name", "want \"" + name + "\" as gateway.yaml calls it, got \"" + loaded.value->name + "\"", "InvalidSpec"});
    return;
  }
  set.texts[file] = **text;
  set.tools.push_back(std::make_shared<const ToolManifest>(std::move(*loaded.value)));
}
}  // namespace

TextReader DiskReader() {
  return [](const std::string& path) { return ReadFileIfExists(path, 1u << 20); };
}

Loaded<ConfigSet> LoadConfigSet(const HomePaths& paths, const TextReader& read, const EnvLookup& env) {
  ConfigSet set;
  std::vector<Problem> problems;
  const auto text = read(paths.GatewayYaml());
  if (!text) return {std::nullopt, {{paths.GatewayYaml(), 0, 0, "", text.error().message, "InvalidSpec"}}};
  GatewayConfig config;
  if (*text) {
    auto loaded = LoadGatewayConfig(**text, paths.GatewayYaml(), env);
    if (!loaded.value) return {std::nullopt, std::move(loaded.problems)};
    config = std::move(*loaded.value);
    set.texts[paths.GatewayYaml()] = **text;
  }
  for (const auto& [name, tool] : config.tools) AddTool(paths, name, tool, read, env, set, problems);
  for (const auto& [name, skill] : config.skills) {
    if (!Exists(JoinPath(skill.path, "SKILL.md"))) {
      problems.push_back({paths.GatewayYaml(), 0, 0, "skills." + name + ".path",
                          "want a folder with SKILL.md, got " + skill.path + " which has none", "InvalidSpec"});
    }
  }
  set.tokens = LoadTokens(config, paths, problems);
  if (!problems.empty()) return {std::nullopt, std::move(problems)};
  set.config = std::make_shared<const GatewayConfig>(std::move(config));
  return {std::move(set), {}};
}

}  // namespace beige
