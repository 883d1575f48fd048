#ifndef BEIGE_GATEWAY_HTTP_POLICY_JSON_H_
#define BEIGE_GATEWAY_HTTP_POLICY_JSON_H_

#include <string>
#include <string_view>

#include "gateway/roster/roster.h"

namespace beige {

// What would be decided now if the agent called `tool` ("exec": if the owner ran a command in it), by the very policy that a call meets:
// {"tool","kind","decision","rule","reason","exitCode","exists","granted","offered","notOffered","generation"}. Bounds of calls in flight
// are not looked at. Nothing is recorded. Core thread only.
std::string PolicyJson(const AgentView& view, const Standing& standing, std::string_view tool);

}  // namespace beige

#endif
