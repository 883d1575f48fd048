#ifndef BEIGE_GATEWAY_LLM_HEALTH_FILE_H_
#define BEIGE_GATEWAY_LLM_HEALTH_FILE_H_

#include <string>
#include <string_view>

#include "base/clock.h"
#include "gateway/llm/cooldowns.h"

namespace beige::llm {

// data/gateway/provider-health.json, so that a restart does not run into what the last run has learnt:
//   {"v": 1, "models": [{"provider": "openai", "model": "gpt-5", "until": "2026-11-29T12:00:30.000Z", "why": "rate_limit",
//     "message": "...", "failures": 2}]}
// Only what still cools down is kept. Times are wall clock; one that lies further ahead than any cooldown is cut.
std::string EncodeHealth(const Cooldowns& cooldowns, const Clock& clock);
// What can't be read is left out: the worst that follows is one more request.
Cooldowns DecodeHealth(std::string_view text, const Clock& clock);

}  // namespace beige::llm

#endif
