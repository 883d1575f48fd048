#ifndef BEIGE_CLI_CHAT_SESSION_LIST_H_
#define BEIGE_CLI_CHAT_SESSION_LIST_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/chat/session_event.h"
#include "cli/chat/terminal_text.h"
#include "cli/globals.h"

namespace beige::cli {

// What docs/sessions.md calls a summary.
struct SessionSummary {
  std::string id;
  std::string title;
  std::string created;  // RFC 3339
  std::string updated;
  std::string model;
  std::string thinking;
  std::string state;    // idle | running
  int64_t queued = 0;
  int64_t turns = 0;
  TokenUsage usage;
};
SessionSummary ReadSummary(const nlohmann::ordered_json& value);
Result<SessionSummary> ParseSummary(const std::string& body);
Result<std::vector<SessionSummary>> ListSessions(const HomePaths& paths, const AgentKey& agent);  // newest first

std::string SessionRoute(const AgentKey& agent, const std::string& session);

// The table of `beige sessions NAME`; `numbered` puts 1, 2, ... in front, for `/session 2`.
std::string SessionTable(const std::vector<SessionSummary>& sessions, SystemTime now, bool wide, bool numbered);

// A session (a summary with "messages") as a person reads it: who said what, calls with their arguments, results cut, diffs.
std::string ConversationText(const nlohmann::ordered_json& session, const Palette& palette);

}  // namespace beige::cli

#endif
