#ifndef BEIGE_GATEWAY_CLI_SOCKET_EXEC_REQUEST_H_
#define BEIGE_GATEWAY_CLI_SOCKET_EXEC_REQUEST_H_

#include <string_view>

#include "api/agent_ref.h"
#include "base/result.h"
#include "gateway/calls/call.h"

namespace beige {

// An EXEC frame: whom it is for, and the call without its agent's uid. Invalid for a cut field, no argument, a NUL, an argument over
// 128 KiB, an environment entry without =.
struct ExecRequest {
  AgentKey agent;
  CallRequest call;
};
Result<ExecRequest> DecodeExecRequest(std::string_view payload);

}  // namespace beige

#endif
