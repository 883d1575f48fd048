#include "gateway/policy/policy.h"

namespace beige {

std::shared_ptr<const Policy> Policy::Make(const admin::Grant& grant, std::shared_ptr<const Names> known_tools) {
  std::shared_ptr<Policy> policy(new Policy());
  policy->known_ = std::move(known_tools);
  policy->granted_.insert(grant.tools.begin(), grant.tools.end());
  policy->not_granted_ = "denied by policy: not in tools of agent " + grant.agent.name;
  policy->suspended_reason_ = "denied by policy: agent " + grant.agent.name + " is suspended";
  policy->generation_ = grant.generation;
  policy->suspended_ = grant.suspended;
  return policy;
}

Decision Policy::Decide(CallKind kind, Surface surface, std::string_view tool) const {
  if (kind == CallKind::kExec) {
    if (surface != Surface::kExec && surface != Surface::kHttp) {
      return {false, "exec", "denied by policy: exec is for the owner and for token holders", 126};
    }
    if (suspended_) return {false, "suspended", suspended_reason_, 126};
    return {true, "exec", {}, 0};
  }
  if (!Knows(tool)) return {false, "tools", "unknown tool", 127};
  if (suspended_) return {false, "suspended", suspended_reason_, 126};
  if (granted_.find(tool) == granted_.end()) return {false, "tools", not_granted_, 126};
  return {true, "tools", {}, 0};
}

}  // namespace beige
