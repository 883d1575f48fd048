#ifndef BEIGE_GATEWAY_LLM_FAILURE_H_
#define BEIGE_GATEWAY_LLM_FAILURE_H_

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "gateway/llm/event.h"
#include "gateway/llm/retry_after.h"

namespace beige::llm {

// An answer whose status is not 200, or a 200 that is no stream but a JSON body with an error in it.
Failure FailureOfAnswer(int status, const HeaderList& headers, std::string_view body, SystemTime now);

// The error object of an event within a stream: {"type", "code", "status", "message"}, of which each dialect has some.
Failure FailureOfError(const nlohmann::json& error);

}  // namespace beige::llm

#endif
