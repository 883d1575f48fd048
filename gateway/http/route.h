#ifndef BEIGE_GATEWAY_HTTP_ROUTE_H_
#define BEIGE_GATEWAY_HTTP_ROUTE_H_

#include <span>
#include <string>
#include <string_view>

#include "api/agent_ref.h"
#include "base/result.h"

namespace beige {

enum class Route {
  kNone,
  kOpenApi,
  kAgents,
  kTools,
  kSkills,
  kModels,
  kNamespaceAgents,
  kAgent,
  kPolicy,
  kExec,
  kPrompt,
  kSessions,
  kNewSession,
  kSession,
  kDeleteSession,
  kSessionEvents,
  kAbort,
  kCompact,
  kSessionModel,
  kBeigePrompt,
};

struct RouteMatch {
  Route route = Route::kNone;
  const char* scope = "";     // that a token must have
  AgentKey agent{};           // of the routes beneath an agent; its namespace alone for kNamespaceAgents; in default for kBeigePrompt
  std::string item{};         // the last segment that names something: a session, a tool
  std::string allow{};        // route is kNone and this is not empty: the path is right, and takes these methods
};

// Invalid when a segment can't be decoded.
Result<RouteMatch> MatchRoute(std::string_view method, std::string_view path);

struct RouteRow {
  Route route;
  std::string_view method;  // GET routes answer HEAD too, but for streams
  std::string_view path;    // "*" stands for one segment
  const char* scope;
};
std::span<const RouteRow> Routes();

}  // namespace beige

#endif
