#include "gateway/http/route.h"

#include <array>
#include <vector>

#include "http/http_server.h"

namespace beige {
namespace {
constexpr auto kRoutes = std::to_array<RouteRow>({
    {Route::kOpenApi, "GET", "/v1/openapi.json", "read"},
    {Route::kAgents, "GET", "/v1/agents", "read"},
    {Route::kTools, "GET", "/v1/tools", "read"},
    {Route::kSkills, "GET", "/v1/skills", "read"},
    {Route::kModels, "GET", "/v1/models", "read"},
    {Route::kNamespaceAgents, "GET", "/v1/namespaces/*/agents", "read"},
    {Route::kAgent, "GET", "/v1/namespaces/*/agents/*", "read"},
    {Route::kPolicy, "GET", "/v1/namespaces/*/agents/*/policy/*", "read"},
    {Route::kExec, "POST", "/v1/namespaces/*/agents/*/exec", "exec"},
    {Route::kPrompt, "POST", "/v1/namespaces/*/agents/*/prompt", "prompt"},
    {Route::kSessions, "GET", "/v1/namespaces/*/agents/*/sessions", "read"},
    {Route::kNewSession, "POST", "/v1/namespaces/*/agents/*/sessions", "prompt"},
    {Route::kSession, "GET", "/v1/namespaces/*/agents/*/sessions/*", "read"},
    {Route::kDeleteSession, "DELETE", "/v1/namespaces/*/agents/*/sessions/*", "prompt"},
    {Route::kSessionEvents, "GET", "/v1/namespaces/*/agents/*/sessions/*/events", "read"},
    {Route::kAbort, "POST", "/v1/namespaces/*/agents/*/sessions/*/abort", "prompt"},
    {Route::kCompact, "POST", "/v1/namespaces/*/agents/*/sessions/*/compact", "prompt"},
    {Route::kSessionModel, "POST", "/v1/namespaces/*/agents/*/sessions/*/model", "prompt"},
    {Route::kBeigePrompt, "POST", "/api/agents/*/prompt", "prompt"},
});

// The names that `row` takes out of the path; false when it is another path.
bool Fits(const RouteRow& row, const std::vector<std::string>& parts, std::vector<std::string>& names) {
  const auto want = http::SplitPath(row.path);
  if (want.size() != parts.size()) return false;
  names.clear();
  for (size_t i = 0; i < want.size(); ++i) {
    if (want[i] != "*" ? want[i] != parts[i] : parts[i].empty()) return false;
    if (want[i] == "*") names.push_back(parts[i]);
  }
  return true;
}

bool Takes(const RouteRow& row, std::string_view method) {
  return method == row.method || (method == "HEAD" && row.method == "GET" && row.route != Route::kSessionEvents);
}
}  // namespace

std::span<const RouteRow> Routes() { return kRoutes; }

Result<RouteMatch> MatchRoute(std::string_view method, std::string_view path) {
  std::vector<std::string> parts;
  for (const std::string_view raw : http::SplitPath(path)) {
    BEIGE_ASSIGN(std::string part, http::DecodeSegment(raw));
    parts.push_back(std::move(part));
  }
  RouteMatch match;
  std::vector<std::string> names;
  for (const RouteRow& row : Routes()) {
    if (!Fits(row, parts, names)) continue;
    if (!Takes(row, method)) {
      match.allow += (match.allow.empty() ? "" : ", ") + std::string(row.method);
      if (row.method == "GET" && Takes(row, "HEAD")) match.allow += ", HEAD";
      continue;
    }
    match.route = row.route;
    match.scope = row.scope;
    match.allow.clear();
    if (row.route == Route::kBeigePrompt) names.insert(names.begin(), "default");
    if (!names.empty()) match.agent.namespace_ = names[0];
    if (names.size() > 1) match.agent.name = names[1];
    if (names.size() > 2) match.item = names[2];
    return match;
  }
  return match;
}

}  // namespace beige
