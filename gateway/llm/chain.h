#ifndef BEIGE_GATEWAY_LLM_CHAIN_H_
#define BEIGE_GATEWAY_LLM_CHAIN_H_

#include <optional>
#include <string>
#include <vector>

#include "api/llm_config.h"
#include "gateway/llm/cooldowns.h"
#include "gateway/llm/event.h"

namespace beige::llm {

// One of an agent's models, in the order of preference.
struct Choice {
  ModelName model;
  ThinkingLevel thinking = ThinkingLevel::kOff;
  bool operator==(const Choice&) const = default;
};

// Which model to ask next for one request. Pure. Each choice is tried at most once; those that cool down are passed over.
class Chain {
 public:
  Chain(std::vector<Choice> choices, const LlmConfig& config);

  // The next one, or nothing when there is none; Verdict() then says what the request ends with.
  std::optional<Choice> Next(const Cooldowns& cooldowns, SteadyTime now);
  void PassOver(const ModelName& model) { cooling_.push_back(model); }  // the last one began to cool down before it was asked
  // The last one failed. True when another may be tried: nothing was seen of its answer, and another model may do better.
  bool MayGoOn(const Failure& failure, bool content_seen);
  Failure Verdict(const Cooldowns& cooldowns, SteadyTime now) const;

 private:
  std::vector<Choice> choices_;
  std::vector<std::string> unknown_;  // names that the configuration does not have
  size_t next_ = 0;
  std::vector<Failure> failures_;     // of those that were tried
  std::vector<ModelName> cooling_;    // passed over
};

}  // namespace beige::llm

#endif
