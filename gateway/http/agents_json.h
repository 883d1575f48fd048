#ifndef BEIGE_GATEWAY_HTTP_AGENTS_JSON_H_
#define BEIGE_GATEWAY_HTTP_AGENTS_JSON_H_

#include <string>
#include <vector>

#include "gateway/config/config_set.h"
#include "gateway/roster/roster.h"

namespace beige {

// One agent as the gateway knows it: identity and granted spec, and under status what is in force and who is connected.
std::string AgentJson(const AgentView& view);
std::string AgentListJson(const std::vector<AgentView>& views);                             // {"items":[...]}
std::string ToolListJson(const std::vector<std::shared_ptr<const ToolManifest>>& tools);  // never command, environment or secrets
std::string SkillListJson(const GatewayConfig& config);

}  // namespace beige

#endif
