#ifndef BEIGE_GATEWAY_LLM_COST_H_
#define BEIGE_GATEWAY_LLM_COST_H_

#include "api/llm_config.h"
#include "gateway/llm/event.h"

namespace beige::llm {

// In US dollars.
inline double CostOf(const LlmCost& price, const Usage& usage) {
  const auto of = [](int64_t tokens, double per_million) { return static_cast<double>(tokens) * per_million / 1e6; };
  return of(usage.input, price.input) + of(usage.output, price.output) + of(usage.cache_read, price.cache_read) + of(usage.cache_write, price.cache_write);
}

}  // namespace beige::llm

#endif
