#include <algorithm>

#include "gateway/sessions/services.h"

namespace beige::sessions {
namespace {
Result<std::vector<llm::Choice>> ChoicesOf(const admin::Grant& grant) {
  std::vector<llm::Choice> choices;
  for (const auto& choice : grant.model_choices) {
    auto name = llm::ParseModelName(choice.name);
    if (name) choices.push_back({std::move(*name), llm::ParseThinkingLevel(choice.thinking_level).value_or(llm::ThinkingLevel::kOff)});
  }
  if (choices.empty()) return Fail(Code::kDenied, "agent " + grant.agent.name + " has no model: set spec.model.choices");
  return choices;
}
}  // namespace

Result<Mind> MindOf(const Services& services, const AgentRef& agent, const std::string& model, const std::string& thinking) {
  auto view = services.roster.Find(agent.key());
  if (!view || view->grant.agent.uid != agent.uid) return Fail(Code::kNotFound, "no agent " + agent.name + " in namespace " + agent.namespace_);
  if (view->grant.suspended) return Fail(Code::kDenied, "agent " + agent.name + " is suspended (spec.operatingMode)");
  Mind mind;
  BEIGE_ASSIGN(mind.choices, ChoicesOf(view->grant));
  if (!model.empty()) {
    const auto chosen = std::find_if(mind.choices.begin(), mind.choices.end(), [&](const llm::Choice& choice) { return choice.model.ToString() == model; });
    // A choice that was taken out of the spec since is no choice any more.
    if (chosen != mind.choices.end()) std::rotate(mind.choices.begin(), chosen, chosen + 1);
  }
  if (const auto level = llm::ParseThinkingLevel(thinking)) mind.choices.front().thinking = *level;
  const auto& providers = services.config->llm.providers;
  if (const auto provider = providers.find(mind.choices.front().model.provider); provider != providers.end()) {
    const auto found = provider->second.models.find(mind.choices.front().model.model);
    if (found != provider->second.models.end()) mind.context_window = found->second.context_window;
  }
  for (const auto& manifest : services.manifests) {
    const auto& granted = view->in_force.tools;
    if (std::find(granted.begin(), granted.end(), manifest->name) != granted.end()) mind.tools.push_back(manifest);
  }
  mind.agent = std::move(*view);
  return mind;
}

}  // namespace beige::sessions
