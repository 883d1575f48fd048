#include "operator/reconcile/desired.h"

namespace beige {

uint32_t SandboxUid(const Identity& identity) { return identity.agent.spec.sandbox.run_as_user.value_or(identity.sandbox_uid); }
uint32_t SandboxGid(const Identity& identity) { return identity.agent.spec.sandbox.run_as_user.value_or(identity.sandbox_gid); }

admin::Grant GrantOf(const Identity& identity) {
  const Agent& agent = identity.agent;
  admin::Grant grant;
  grant.agent = agent.ref();
  grant.generation = agent.metadata.generation;
  grant.labels = agent.metadata.labels;
  grant.description = agent.spec.description;
  for (const NamedRef& tool : agent.spec.tools) grant.tools.push_back(tool.name);
  for (const NamedRef& skill : agent.spec.skills) grant.skills.push_back(skill.name);
  grant.core_tools.clear();
  for (const NamedRef& tool : agent.spec.core_tools) grant.core_tools.push_back(tool.name);
  grant.model_choices = agent.spec.model_choices;
  grant.instructions = agent.spec.instructions;
  grant.suspended = agent.spec.operating_mode == OperatingMode::kSuspended;
  grant.sandbox_uid = SandboxUid(identity);
  return grant;
}

std::vector<admin::Grant> GrantsOf(const Desired& desired) {
  std::vector<admin::Grant> grants;
  for (const auto& [key, agent] : desired.agents) {
    if (agent.identity) grants.push_back(GrantOf(*agent.identity));
  }
  return grants;
}

}  // namespace beige
