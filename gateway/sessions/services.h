#ifndef BEIGE_GATEWAY_SESSIONS_SERVICES_H_
#define BEIGE_GATEWAY_SESSIONS_SERVICES_H_

#include <memory>
#include <string>
#include <vector>

#include "api/config.h"
#include "base/clock.h"
#include "base/loop.h"
#include "gateway/llm/llm.h"
#include "gateway/roster/roster.h"
#include "gateway/sessions/disk.h"
#include "gateway/sessions/tool_runner.h"
#include "gateway/sessions/transcript.h"

namespace beige {
class AuditLog;
class GatewayMetrics;
}  // namespace beige

namespace beige::sessions {

// What every session works with; core thread.
struct Services {
  Loop& loop;
  const Clock& clock;
  Roster& roster;
  AuditLog& audit;
  GatewayMetrics& metrics;
  llm::Llm& models;
  ToolRunner& tools;
  Disk& disk;
  std::shared_ptr<const GatewayConfig> config{};
  std::vector<std::shared_ptr<const ToolManifest>> manifests{};
};

// Who thinks for an agent now, and with what.
struct Mind {
  AgentView agent;
  std::vector<llm::Choice> choices;  // the session's own first
  int64_t context_window = 0;        // of the first; 0 = not told
  std::vector<std::shared_ptr<const ToolManifest>> tools;  // granted, and offered now
};

// NotFound: there is no such agent any more. Denied: it is suspended, or no model stands in its spec. `model` and `thinking` are the session's.
Result<Mind> MindOf(const Services& services, const AgentRef& agent, const std::string& model, const std::string& thinking);

}  // namespace beige::sessions

#endif
