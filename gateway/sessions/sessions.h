#ifndef BEIGE_GATEWAY_SESSIONS_SESSIONS_H_
#define BEIGE_GATEWAY_SESSIONS_SESSIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/agent_ref.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/result.h"
#include "gateway/calls/call.h"
#include "gateway/llm/llm.h"

namespace beige {
class AuditLog;
class GatewayMetrics;
class HomePaths;
class Roster;
}  // namespace beige

namespace beige::sessions {

// One thing that happened in a session, as everyone who watches it is told. docs/sessions.md has the names and their data.
struct Event {
  std::string id;         // "TURN-N": what Last-Event-ID gives back; grows within a session
  std::string_view name;  // "text", "call", "done", ...
  std::string data;       // one JSON object, one line
  std::string prompt;     // the prompt whose turn it belongs to; "" = none
  bool ends = false;      // done, error or aborted: nothing more comes of that prompt
};

// Who is told of a session's events. Core thread. A watcher may end its watch from within either.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void OnEvent(const Event& event) = 0;
  virtual void OnClosed(const Error& why) = 0;  // the session was deleted, its agent removed, or the gateway stops; nothing follows
};
using WatchId = uint64_t;

struct Prompt {
  AgentRef agent{};
  std::string actor{};    // local, or the token's name
  std::string session{};  // "" = a new one
  bool make = false;      // a session of that id is made when there is none
  std::string text{};
  std::vector<llm::Image> images{};
  bool steer = false;     // while a turn runs: told to the model at its next step, instead of queued behind the turn
  bool detach = false;    // its turn runs although the caller left, after a restart too; who does not want that aborts it when he leaves
  // "provider/model" and level for this session from now on; absent = as it was (a new session: the agent's first choice).
  std::optional<std::string> model{};
  std::optional<llm::ThinkingLevel> thinking{};
};

struct Accepted {
  std::string session;
  std::string prompt;
  std::string after;  // every event of this prompt has a later id
  size_t ahead = 0;   // prompts that are answered first, the running one included
};

struct Summary {
  std::string id;
  std::string title;     // from the first prompt, cut; "" before it
  std::string created;   // RFC 3339
  std::string updated;
  std::string model;     // "provider/model"; "" = the agent's first choice
  std::string thinking;  // "" = as the agent's choice says
  std::string state;     // idle | running
  size_t queued = 0;
  int64_t turns = 0;
  llm::Usage usage;      // of all its requests
};

template <typename T = void>
using Done = std::function<void(Result<T>)>;  // core thread, possibly from within the call

// The conversations of all agents: append-only files under sessions/<ns>/<name>/ that name their agent's uid, moved to sessions/.trash for
// 7 days when it is removed. One turn at a time in each, queues behind it. Every
// request to a model and every tool call is judged and audited like any other call. Core thread only; disk is read on a thread of its own.
//
// What a gateway has left of detached prompts is found at the start and run when its agent can work: its grant is in force and its sandbox
// connected, or it has no tool to need one for.
//
// Errors: NotFound (no such agent or session), Invalid (a bad id, an empty prompt, an unknown model: names the field), Denied (the agent
// is suspended or has no model), Exhausted (too many prompts wait), Unavailable (the disk can't be written, the gateway stops).
class Sessions {
 public:
  Sessions(Loop& loop, const Clock& clock, const HomePaths& paths, Roster& roster, CallService& calls, AuditLog& audit, GatewayMetrics& metrics,
           llm::Llm& models);
  ~Sessions();  // what runs is aborted and said so in its file, but for what was said with `detach`: the next start goes on with that
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  void SetConfig(std::shared_ptr<const GatewayConfig> config, std::vector<std::shared_ptr<const ToolManifest>> tools);

  // Accepted once it is in the session's file. Its turn begins on a later turn of the loop.
  void Submit(Prompt prompt, Done<Accepted> done);
  // Takes one prompt back, or with prompt "" the running one and all that wait. Success when nothing of it runs any more.
  void Abort(const AgentRef& agent, const std::string& session, const std::string& prompt, Done<> done);

  // From the event behind `after` on: "" = only what comes, "0-0" = all that is still known (the running or last turn). What is no longer
  // known is said by one event "reset". The watcher must outlive its watch.
  void Watch(const AgentRef& agent, const std::string& session, const std::string& after, Watcher* watcher, Done<WatchId> done);
  void Unwatch(WatchId watch);

  void Create(const AgentRef& agent, std::optional<std::string> model, std::optional<llm::ThinkingLevel> thinking, Done<Summary> done);
  void List(const AgentRef& agent, Done<std::vector<Summary>> done);  // newest first
  // {"id","title",...,"messages":[...]}: the last `limit` messages (0 = all).
  void Show(const AgentRef& agent, const std::string& session, size_t limit, Done<std::string> done);
  void Delete(const AgentRef& agent, const std::string& session, Done<> done);  // aborts what runs
  void Compact(const AgentRef& agent, const std::string& session, std::string actor, Done<> done);  // Conflict while a turn runs
  void StopCompaction(const AgentRef& agent, const std::string& session);  // who asked for it has left; nothing to stop is no error
  void SetModel(const AgentRef& agent, const std::string& session, const std::string& model, std::optional<llm::ThinkingLevel> thinking, Done<Summary> done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace beige::sessions

#endif
