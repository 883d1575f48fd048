#ifndef BEIGE_GATEWAY_LLM_COOLDOWNS_H_
#define BEIGE_GATEWAY_LLM_COOLDOWNS_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gateway/llm/event.h"

namespace beige::llm {

// Which models are not asked for a while, and why. Pure; the caller brings the time.
// A failure cools its model down for as long as the provider says, else for a time by its class that doubles with every failure in a row.
// A later failure never shortens a cooldown; a success ends the row but no cooldown, since it may have been on its way before.
class Cooldowns {
 public:
  struct Entry {
    SteadyTime until{};       // may have passed
    ErrorClass why = ErrorClass::kOverloaded;
    std::string message;
    int failures = 0;         // in a row
  };

  void Failed(const ModelName& model, const Failure& failure, SteadyTime now);
  void Succeeded(const ModelName& model);
  void Forget(const std::string& provider);  // its configuration was changed: a new key deserves a new try

  std::optional<SteadyTime> Until(const ModelName& model, SteadyTime now) const;  // nullopt = may be asked
  const Entry* Find(const ModelName& model) const;
  const std::map<ModelName, Entry>& all() const { return entries_; }
  void Restore(const ModelName& model, Entry entry) { entries_[model] = std::move(entry); }

 private:
  std::map<ModelName, Entry> entries_;
};

// Without a word from the provider, for the n-th failure in a row, n from 1. 0 = this class says nothing about the model's health.
std::chrono::milliseconds CooldownFor(ErrorClass kind, int failures);

}  // namespace beige::llm

#endif
