#ifndef BEIGE_GATEWAY_SESSIONS_CORE_TOOLS_ANSWER_H_
#define BEIGE_GATEWAY_SESSIONS_CORE_TOOLS_ANSWER_H_

#include <string>
#include <string_view>

#include "gateway/calls/call.h"
#include "gateway/sessions/core_tools.h"
#include "gateway/sessions/core_tools_output.h"
#include "gateway/sessions/tool_runner.h"

namespace beige::sessions {

// Makes what the model is told of what a call gave. What came from the sandbox is no more than a claim: bounded and made valid UTF-8, and an
// answer that is not in the form of sandbox-image/sandbox/core.h is an error.
ToolOutcome ReadAnswer(const ToolPlan& plan, std::string_view out);
ToolOutcome WriteAnswer(const ToolPlan& plan, std::string_view out);
ToolOutcome PatchAnswer(const ToolPlan& plan, std::string_view out);
// Of one that was denied, could not be run or failed; `err` is what it said on stderr.
ToolOutcome FailedAnswer(const CallResult& result, std::string_view err);
// Of exec and of granted tools.
ToolOutcome CommandAnswer(const CallResult& result, std::string shown);

// Unified lines: what both have in common at the beginning and the end is left out, but for three lines. At most 16 KiB.
std::string DiffOf(std::string_view before, std::string_view after, int64_t first_line);

}  // namespace beige::sessions

#endif
