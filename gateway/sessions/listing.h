#ifndef BEIGE_GATEWAY_SESSIONS_LISTING_H_
#define BEIGE_GATEWAY_SESSIONS_LISTING_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/sessions/log_file.h"
#include "gateway/sessions/sessions.h"
#include "gateway/sessions/transcript.h"

// What is read from disk, for the disk's thread: no state, no loop.
namespace beige::sessions {

// 1-64 of A-Z a-z 0-9 - _: never a path.
bool IsSessionId(std::string_view text);
std::string SessionFile(const std::string& directory, const std::string& id);

struct Loaded {
  Transcript transcript;
  std::shared_ptr<LogFile> file;
};
// NotFound when there is none, or it belongs to an earlier agent of that name.
Result<Loaded> LoadSession(const std::string& path, const std::string& agent_uid);

// Of every session of that agent, newest first; state and queued are what the file knows: idle, 0. Reads no more of a file than its first
// line and its end where that is enough.
Result<std::vector<Summary>> ListSessions(const std::string& directory, const std::string& agent_uid);

// NotFound when there is none of that agent's. Does not read it, so one that has grown too large can go too.
Result<> RemoveSession(const std::string& path, const std::string& agent_uid);

Result<> MoveAside(const std::string& path, const std::string& to);

// Sessions that a gateway has left with detached prompts, of all agents: by their marks, so that old ones cost no more than their names.
struct Left {
  AgentRef agent;
  std::string id;
};
std::vector<Left> FindLeft(const std::string& sessions);

std::string SummaryJson(const Summary& summary);
// The summary's members and "messages": the last `limit` (0 = all) of what was said, called and answered.
Result<std::string> ShowSession(const std::string& path, const std::string& agent_uid, const Summary& summary, size_t limit);
// Idle; whether it runs only the session in memory knows.
Summary SummaryOf(const std::string& id, const Transcript& transcript);

}  // namespace beige::sessions

#endif
