#include "gateway/http/policy_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gateway/policy/policy.h"

namespace beige {

std::string PolicyJson(const AgentView& view, const Standing& standing, std::string_view tool) {
  const bool exec = tool == "exec";
  const bool core = !exec && Policy::IsCoreTool(tool) && !standing.policy->Knows(tool);
  const CallKind kind = exec ? CallKind::kExec : core ? CallKind::kCoreTool : CallKind::kTool;
  Decision decision = standing.policy->Decide(kind, exec ? Surface::kExec : core ? Surface::kLlm : Surface::kSocket, tool);
  const auto among = [&](const std::vector<std::string>& names) { return std::find(names.begin(), names.end(), tool) != names.end(); };
  const auto unavailable = view.in_force.unavailable_tools.find(std::string(tool));
  std::string not_offered;
  if (unavailable != view.in_force.unavailable_tools.end()) {
    not_offered = "unavailable: " + unavailable->second;
    if (decision.allow) decision = {false, "cells", not_offered, 126};
  }
  nlohmann::ordered_json out = {{"tool", tool}, {"kind", CallKindName(kind)}, {"decision", decision.allow ? "allow" : "deny"}, {"rule", decision.rule}};
  if (!decision.allow) {
    out["reason"] = decision.reason;
    out["exitCode"] = decision.exit_code;
  }
  if (kind == CallKind::kTool) {
    out["exists"] = standing.policy->Knows(tool);
    out["granted"] = among(view.grant.tools);
    out["offered"] = among(view.in_force.tools);
    if (!not_offered.empty()) out["notOffered"] = not_offered;
  }
  out["generation"] = standing.policy->generation();
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace beige
