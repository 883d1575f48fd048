#include "cli/chat/session_list.h"

#include <nlohmann/json.hpp>

#include "cli/gateway_api.h"
#include "cli/table.h"

namespace beige::cli {
using nlohmann::ordered_json;

SessionSummary ReadSummary(const ordered_json& value) {
  SessionSummary s;
  if (!value.is_object()) return s;
  s.id = TextIn(value, "id");
  s.title = TextIn(value, "title");
  s.created = TextIn(value, "createdAt");
  s.updated = TextIn(value, "updatedAt");
  s.model = TextIn(value, "model");
  s.thinking = TextIn(value, "thinkingLevel");
  s.state = TextIn(value, "state");
  s.queued = NumberIn(value, "queued");
  s.turns = NumberIn(value, "turns");
  s.usage = ReadUsage(value.value("usage", ordered_json()));
  return s;
}

Result<SessionSummary> ParseSummary(const std::string& body) {
  SessionSummary summary = ReadSummary(ordered_json::parse(body, nullptr, false));
  if (summary.id.empty()) return Fail(Code::kUnavailable, "the gateway's answer is not a session; is it of another version? see 'beige status'");
  return summary;
}

std::string SessionRoute(const AgentKey& agent, const std::string& session) { return AgentRoute(agent) + "/sessions/" + UrlEncoded(session); }

Result<std::vector<SessionSummary>> ListSessions(const HomePaths& paths, const AgentKey& agent) {
  BEIGE_ASSIGN(const std::string body, GetFromGateway(paths, AgentRoute(agent) + "/sessions"));
  const auto document = ordered_json::parse(body, nullptr, false);
  if (!document.is_object() || !document.contains("items") || !document["items"].is_array()) {
    return Fail(Code::kUnavailable, "the gateway's answer is not a list of sessions; is it of another version? see 'beige status'");
  }
  std::vector<SessionSummary> sessions;
  for (const auto& item : document["items"]) sessions.push_back(ReadSummary(item));
  return sessions;
}

std::string SessionTable(const std::vector<SessionSummary>& sessions, SystemTime now, bool wide, bool numbered) {
  std::vector<std::string> header = {"ID", "TITLE", "TURNS", "TOKENS", "COST", "UPDATED", "STATE"};
  if (wide) header.insert(header.end(), {"MODEL", "THINKING", "QUEUED", "CREATED"});
  if (numbered) header.insert(header.begin(), "");
  Table table(header);
  size_t number = 0;
  for (const auto& s : sessions) {
    const std::string cost = CostText(s.usage.cost_usd);
    std::vector<std::string> row = {s.id, s.title.empty() ? "-" : Cut(s.title, wide ? 80 : numbered ? 20 : 40), std::to_string(s.turns), CountText(s.usage.total()), cost.empty() ? "-" : cost,
                                    Age(s.updated, now), s.state + (s.queued > 0 && !wide ? " (+" + std::to_string(s.queued) + ")" : "")};
    if (wide) row.insert(row.end(), {s.model.empty() ? "-" : s.model, s.thinking.empty() ? "-" : s.thinking, std::to_string(s.queued), s.created});
    if (numbered) row.insert(row.begin(), std::to_string(++number));
    table.Add(std::move(row));
  }
  return table.Render();
}

}  // namespace beige::cli
