#include "gateway/llm/chain.h"

#include <algorithm>

namespace beige::llm {
namespace {
bool IsConfigured(const LlmConfig& config, const ModelName& name) {
  const auto provider = config.providers.find(name.provider);
  return provider != config.providers.end() && provider->second.models.contains(name.model);
}

// A conversation that is too long is for its owner to shorten; another model would only cost more to say the same.
bool AnotherMayDoBetter(ErrorClass kind) { return kind != ErrorClass::kContextLength; }
}  // namespace

Chain::Chain(std::vector<Choice> choices, const LlmConfig& config) {
  for (Choice& choice : choices) {
    if (IsConfigured(config, choice.model)) {
      choices_.push_back(std::move(choice));
    } else {
      unknown_.push_back(choice.model.ToString());
    }
  }
}

std::optional<Choice> Chain::Next(const Cooldowns& cooldowns, SteadyTime now) {
  while (next_ < choices_.size()) {
    const Choice& choice = choices_[next_++];
    if (!cooldowns.Until(choice.model, now)) return choice;
    cooling_.push_back(choice.model);
  }
  return std::nullopt;
}

bool Chain::MayGoOn(const Failure& failure, bool content_seen) {
  failures_.push_back(failure);
  return !content_seen && AnotherMayDoBetter(failure.kind);
}

Failure Chain::Verdict(const Cooldowns& cooldowns, SteadyTime now) const {
  // The soonest time at which any of them may be asked again.
  std::optional<std::chrono::milliseconds> soonest;
  ModelName which;
  for (const Choice& choice : choices_) {
    const auto until = cooldowns.Until(choice.model, now);
    if (!until) continue;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(*until - now);
    if (soonest && *soonest <= wait) continue;
    soonest = wait;
    which = choice.model;
  }
  Failure out;
  if (!failures_.empty()) {
    out = failures_.back();  // the others stand in the log
    if (soonest) out.retry_after = soonest;
    return out;
  }
  if (!cooling_.empty()) {
    const Cooldowns::Entry* entry = cooldowns.Find(which);
    out.kind = ErrorClass::kCooling;
    out.retry_after = soonest;
    out.provider = which.provider;
    out.model = which.model;
    out.message = (choices_.size() == 1 ? which.ToString() + " is cooling down" : "all " + std::to_string(choices_.size()) + " models are cooling down; the first back is " + which.ToString()) +
                  " for " + FormatDuration(std::chrono::ceil<std::chrono::seconds>(soonest.value_or(std::chrono::seconds(0)))) +
                  (entry == nullptr ? "" : " (" + std::string(ErrorClassName(entry->why)) + ": " + entry->message + ")");
    return out;
  }
  out.kind = ErrorClass::kBadRequest;
  out.message = unknown_.empty() ? "no model is chosen; name one under model.choices of the agent"
                                 : "no such model: " + unknown_.front() + "; name it under llm.providers in gateway.yaml";
  return out;
}

}  // namespace beige::llm
