#include "gateway/http/agents_json.h"

#include <nlohmann/json.hpp>

#include "api/agent.h"
#include "base/clock.h"

namespace beige {
namespace {
using nlohmann::ordered_json;

std::string Text(const ordered_json& value) { return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace); }

ordered_json Named(const std::vector<std::string>& names) {
  ordered_json list = ordered_json::array();
  for (const std::string& name : names) list.push_back({{"name", name}});
  return list;
}

ordered_json ToJson(const AgentView& view) {
  const admin::Grant& grant = view.grant;
  ordered_json metadata = {{"name", grant.agent.name}, {"namespace", grant.agent.namespace_}, {"uid", grant.agent.uid}, {"generation", grant.generation}};
  if (!grant.labels.empty()) metadata["labels"] = grant.labels;
  ordered_json choices = ordered_json::array();
  for (const ModelChoice& choice : grant.model_choices) choices.push_back({{"name", choice.name}, {"thinkingLevel", choice.thinking_level}});
  ordered_json spec = {{"description", grant.description},
                       {"tools", Named(grant.tools)},
                       {"skills", Named(grant.skills)},
                       {"coreTools", Named(grant.core_tools)},
                       {"model", {{"choices", std::move(choices)}}},
                       {"operatingMode", grant.suspended ? "Suspended" : "Running"}};
  ordered_json status = {{"grantGeneration", view.in_force.generation},
                         {"connected", view.connected},
                         {"tools", view.in_force.tools},
                         {"unknownTools", view.in_force.unknown_tools},
                         {"unknownSkills", view.in_force.unknown_skills},
                         {"unknownModels", view.in_force.unknown_models},
                         {"unavailableTools", view.in_force.unavailable_tools},
                         {"connections", view.connections},
                         {"calls", view.calls}};
  return {{"apiVersion", kApiVersion}, {"kind", "Agent"}, {"metadata", std::move(metadata)}, {"spec", std::move(spec)}, {"status", std::move(status)}};
}
}  // namespace

std::string AgentJson(const AgentView& view) { return Text(ToJson(view)); }

std::string AgentListJson(const std::vector<AgentView>& views) {
  ordered_json items = ordered_json::array();
  for (const AgentView& view : views) items.push_back(ToJson(view));
  return Text({{"items", std::move(items)}});
}

std::string ToolListJson(const std::vector<std::shared_ptr<const ToolManifest>>& tools) {
  ordered_json items = ordered_json::array();
  for (const auto& tool : tools) {
    items.push_back({{"name", tool->name},
                     {"description", tool->description},
                     {"usage", tool->usage},
                     {"stdin", tool->stdin_open},
                     {"timeout", FormatDuration(tool->timeout)},
                     {"network", tool->network == ToolNetwork::kHost ? "host" : "none"}});
  }
  return Text({{"items", std::move(items)}});
}

std::string SkillListJson(const GatewayConfig& config) {
  ordered_json items = ordered_json::array();
  for (const auto& [name, skill] : config.skills) items.push_back({{"name", name}});
  return Text({{"items", std::move(items)}});
}

}  // namespace beige
