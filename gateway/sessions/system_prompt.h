#ifndef BEIGE_GATEWAY_SESSIONS_SYSTEM_PROMPT_H_
#define BEIGE_GATEWAY_SESSIONS_SYSTEM_PROMPT_H_

#include <string>

#include "gateway/sessions/services.h"

namespace beige::sessions {

// What a model is told before everything else: where it is, its tools' usage, its skills, the spec's instructions and the workspace's
// AGENTS.md. Pure; the same facts give the same text, so that providers' caches hit.
std::string SystemPrompt(const Mind& mind, const std::string& agents_md);

}  // namespace beige::sessions

#endif
