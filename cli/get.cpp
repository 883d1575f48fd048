#include "cli/get.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/load.h"
#include "base/files.h"
#include "cli/check.h"
#include "cli/get_agents.h"
#include "cli/get_models.h"
#include "cli/home_agents.h"
#include "cli/report.h"
#include "cli/table.h"

namespace beige::cli {
namespace {
using nlohmann::ordered_json;

struct Item {
  std::string name;
  std::vector<std::string> cells;  // after the name
  ordered_json json;
};

Result<GatewayConfig> ReadGatewayConfig(const HomePaths& paths) {
  BEIGE_ASSIGN(const auto text, ReadFileIfExists(paths.GatewayYaml()));
  if (!text) return GatewayConfig{};
  auto loaded = LoadGatewayConfig(*text, paths.GatewayYaml(), AnyEnv());
  if (!loaded.value) return Fail(Code::kInvalid, Join(loaded.problems, "; ") + "; mend it, 'beige config check' shows everything");
  return std::move(*loaded.value);
}

// Who names it in a valid spec.
template <typename Names>
std::string GrantedTo(const HomePaths& paths, const std::string& name, Names names) {
  std::string agents;
  for (const auto& view : ReadAgents(paths)) {
    const auto& list = names(view.agent.spec);
    const bool has = std::any_of(list.begin(), list.end(), [&](const NamedRef& ref) { return ref.name == name; });
    if (has && view.definition) agents += (agents.empty() ? "" : ",") + (view.agent.metadata.namespace_ == "default" ? view.agent.metadata.name : view.agent.key().ToString());
  }
  return agents.empty() ? "-" : agents;
}

Item ToolItem(const HomePaths& paths, const std::string& name, const ToolConfig& tool) {
  const std::string agents = GrantedTo(paths, name, [](const AgentSpec& spec) -> const auto& { return spec.tools; });
  const std::string file = JoinPath(tool.path, "tool.yaml");
  const auto text = ReadFile(file);
  Loaded<ToolManifest> loaded;
  if (text) {
    loaded = LoadToolManifest(*text, file, AnyEnv());
  } else {
    loaded.problems.push_back({file, 0, 0, "", text.error().message, ""});
  }
  Item item{name, {}, {{"name", name}, {"path", tool.path}}};
  if (!loaded.value) {
    const std::string why = Join(loaded.problems, "; ");
    item.json["error"] = why;
    item.cells = {"invalid: " + why, "-", "-", agents};
    return item;
  }
  const ToolManifest& manifest = *loaded.value;
  const std::string network = manifest.network == ToolNetwork::kHost ? "host" : "none";
  item.json.update({{"description", manifest.description}, {"usage", manifest.usage}, {"timeout", FormatDuration(manifest.timeout)}, {"network", network}});
  item.cells = {manifest.description, FormatDuration(manifest.timeout), network, agents};
  return item;
}

Item SkillItem(const HomePaths& paths, const std::string& name, const SkillConfig& skill) {
  const std::string agents = GrantedTo(paths, name, [](const AgentSpec& spec) -> const auto& { return spec.skills; });
  return {name, {skill.path, agents}, {{"name", name}, {"path", skill.path}}};
}

int PrintItems(const Globals& globals, const GetOptions& options, const std::string& kind, std::vector<Item> items, std::vector<std::string> header) {
  int status = kDone;
  for (const auto& name : options.names) {
    if (std::none_of(items.begin(), items.end(), [&](const Item& item) { return item.name == name; })) {
      status = Report("get", kNotFound, kind + " " + name + ": not in " + globals.paths().GatewayYaml() + "; 'beige get " + kind + "s' lists what is");
    }
  }
  if (!options.names.empty()) {
    std::erase_if(items, [&](const Item& item) { return std::find(options.names.begin(), options.names.end(), item.name) == options.names.end(); });
    if (items.empty()) return status;
  }
  if (globals.structured()) {
    ordered_json out{{"items", ordered_json::array()}};
    for (auto& item : items) out["items"].push_back(std::move(item.json));
    if (options.names.size() == 1) out = ordered_json(out["items"][0]);
    PrintStructured(globals, out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
    return status;
  }
  Table table(std::move(header));
  for (auto& item : items) {
    if (globals.output == Output::kName) {
      PrintLine(kind + "/" + item.name);
      continue;
    }
    item.cells.insert(item.cells.begin(), item.name);
    table.Add(std::move(item.cells));
  }
  if (globals.output != Output::kName && !table.empty()) Print(table.Render());
  if (items.empty()) PrintError("get", "no " + kind + "s; name their folders under '" + kind + "s:' in " + globals.paths().GatewayYaml());
  return status;
}
}  // namespace

int RunGet(const Globals& globals, const GetOptions& options) {
  const std::string& kind = options.kind;
  if (kind == "agents" || kind == "agent") return GetAgents(globals, options);
  if (!options.watch && (kind == "models" || kind == "model")) return GetModels(globals, options);
  if (options.watch) return Report("get", kUsage, "-w: only agents can be watched");
  const HomePaths paths = globals.paths();
  const auto config = ReadGatewayConfig(paths);
  if (!config) return Report("get", config.error());
  std::vector<Item> items;
  if (kind == "tools" || kind == "tool") {
    for (const auto& [name, tool] : config->tools) items.push_back(ToolItem(paths, name, tool));
    return PrintItems(globals, options, "tool", std::move(items), {"NAME", "DESCRIPTION", "TIMEOUT", "NETWORK", "AGENTS"});
  }
  for (const auto& [name, skill] : config->skills) items.push_back(SkillItem(paths, name, skill));
  return PrintItems(globals, options, "skill", std::move(items), {"NAME", "PATH", "AGENTS"});
}

}  // namespace beige::cli
