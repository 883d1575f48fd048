#include "gateway/policy/policy.h"

#include <algorithm>

namespace beige {

std::shared_ptr<const Policy> Policy::Make(const admin::Grant& grant, std::shared_ptr<const Names> known_tools) {
  std::shared_ptr<Policy> policy(new Policy());
  policy->known_ = std::move(known_tools);
  policy->granted_.insert(grant.tools.begin(), grant.tools.end());
  policy->core_tools_.insert(grant.core_tools.begin(), grant.core_tools.end());
  for (const ModelChoice& choice : grant.model_choices) policy->models_.insert(choice.name);
  policy->no_core_tool_ = "denied by policy: not in coreTools of agent " + grant.agent.name;
  policy->no_model_ = "denied by policy: not in model.choices of agent " + grant.agent.name;
  policy->not_granted_ = "denied by policy: not in tools of agent " + grant.agent.name;
  policy->suspended_reason_ = "denied by policy: agent " + grant.agent.name + " is suspended";
  policy->generation_ = grant.generation;
  policy->suspended_ = grant.suspended;
  return policy;
}

bool Policy::IsCoreTool(std::string_view name) { return std::find(kCoreTools.begin(), kCoreTools.end(), name) != kCoreTools.end(); }

Decision Policy::DecideCoreTool(Surface surface, std::string_view tool) const {
  if (surface != Surface::kLlm && surface != Surface::kChannel && surface != Surface::kSchedule) {
    return {false, "coreTools", "denied by policy: core tools are for the agent's model", 126};
  }
  if (!IsCoreTool(tool)) return {false, "coreTools", "unknown core tool", 127};
  if (suspended_) return {false, "suspended", suspended_reason_, 126};
  if (core_tools_.find(tool) == core_tools_.end()) return {false, "coreTools", no_core_tool_, 126};
  return {true, "coreTools", {}, 0};
}

Decision Policy::Decide(CallKind kind, Surface surface, std::string_view tool) const {
  if (kind == CallKind::kExec) {
    if (surface != Surface::kExec && surface != Surface::kHttp) {
      return {false, "exec", "denied by policy: exec is for the owner and for token holders", 126};
    }
    if (suspended_) return {false, "suspended", suspended_reason_, 126};
    return {true, "exec", {}, 0};
  }
  if (kind == CallKind::kCoreTool) return DecideCoreTool(surface, tool);
  if (kind == CallKind::kLlm) {
    if (suspended_) return {false, "suspended", suspended_reason_, 126};
    if (models_.find(tool) == models_.end()) return {false, "model", no_model_, 126};
    return {true, "model", {}, 0};
  }
  if (!Knows(tool)) return {false, "tools", "unknown tool", 127};
  if (suspended_) return {false, "suspended", suspended_reason_, 126};
  if (granted_.find(tool) == granted_.end()) return {false, "tools", not_granted_, 126};
  return {true, "tools", {}, 0};
}

}  // namespace beige
