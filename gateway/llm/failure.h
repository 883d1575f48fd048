#ifndef BEIGE_GATEWAY_LLM_FAILURE_H_
#define BEIGE_GATEWAY_LLM_FAILURE_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/secret.h"
#include "gateway/llm/event.h"
#include "gateway/llm/retry_after.h"

namespace beige::llm {

// An answer whose status is not 200, or a 200 that is no stream but a JSON body with an error in it.
Failure FailureOfAnswer(int status, const HeaderList& headers, std::string_view body, SystemTime now);

// The error object of an event within a stream: {"type", "code", "status", "message"}, of which each dialect has some.
Failure FailureOfError(const nlohmann::json& error);

// The text of a failure as people may see it: without the key, and then cut, since half of a key could not be told from other words.
std::string Presentable(std::string message, const Secret& key);

}  // namespace beige::llm

#endif
