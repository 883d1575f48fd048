#ifndef BEIGE_GATEWAY_SESSIONS_SESSION_H_
#define BEIGE_GATEWAY_SESSIONS_SESSION_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gateway/sessions/event_ring.h"
#include "gateway/sessions/log_file.h"
#include "gateway/sessions/services.h"
#include "gateway/sessions/sessions.h"
#include "gateway/sessions/transcript.h"

namespace beige::sessions {

class Compaction;
class Turn;

// One session in memory: what stands in its file, the turn that runs, who watches. Core thread.
class Session {
 public:
  static constexpr size_t kMaxWaiting = 16;
  // A file is read whole into memory. Past the first no prompt is accepted, past the second no turn goes on.
  static constexpr int64_t kFull = 128 << 20;
  static constexpr int64_t kOverfull = 512 << 20;

  // Closes what a crash left open: calls without a result, a turn without an end, prompts whose callers are gone. What nobody had to wait
  // for (`detach`) is held until Release: prompts that wait, and a turn that was interrupted for the first time.
  Session(Services& services, AgentRef agent, std::string id, Transcript transcript, std::shared_ptr<LogFile> file);
  ~Session();

  const AgentRef& agent() const { return agent_; }
  const std::string& id() const { return id_; }
  const Transcript& transcript() const { return transcript_; }
  Summary Summarize() const;

  Result<Accepted> Submit(Prompt prompt);
  Result<> Abort(const std::string& prompt);
  void Compact(std::string actor, Done<> done);
  void StopCompaction();  // one that was asked for by hand
  Result<> SetModel(const std::string& model, std::optional<llm::ThinkingLevel> thinking);
  void Watch(WatchId id, const std::string& after, Watcher* watcher, const Done<WatchId>& done);  // done before the first event
  void Unwatch(WatchId id) { watchers_.erase(id); }
  void Close(const Error& why);  // ends all watches; what runs is aborted
  void Stop(const Error& why);   // the same, but what runs and waits with `detach` is left to the next start
  bool holds() const { return held_; }
  void Release();                // the agent can work: what was held is run

  // Nothing runs, waits or watches since that time.
  std::optional<SteadyTime> IdleSince() const;

  // --- for the turn and the compaction ---
  Services& services() { return services_; }
  Result<> Write(Record record);
  int64_t size() const { return file_->size(); }
  void Emit(std::string_view name, std::string data, const std::string& prompt = "", bool ends = false);
  void BeginNumbering();                   // events of a new turn count from 1
  std::vector<Said> Steering() const;      // prompts that wait to be told in the middle of a turn
  TurnEnded Ending(const std::string& prompt) const;  // with what a list shows filled in
  std::optional<std::string>& agents_md() { return agents_md_; }  // of the workspace, once it was read
  void GiveUpWaiting(std::string_view why);  // nothing can be written: all that wait are told so, and wait no more
  void TurnOver();        // called by the turn from within itself
  void CompactionOver();  // and by a compaction that no turn began
  const std::string& actor() const { return actor_; }  // of the prompt that runs

 private:
  void Repair();
  bool MayResume() const;
  void EndLeft(const std::string& outcome, const std::string& code, const std::string& message);
  const Said* Next() const;  // nullptr: none may begin now
  void TellClosed(const Error& why);
  void StartSoon();
  void Start();
  Result<> CheckModel(const std::string& model) const;

  Services& services_;
  const AgentRef agent_;
  const std::string id_;
  Transcript transcript_;
  const std::shared_ptr<LogFile> file_;
  EventId last_;
  EventRing ring_;
  std::map<WatchId, Watcher*> watchers_;
  std::optional<std::string> agents_md_;
  std::string actor_;
  std::unique_ptr<Turn> turn_;
  std::unique_ptr<Compaction> compaction_;
  std::vector<std::unique_ptr<Turn>> over_;  // whose calls are still on the stack
  std::vector<std::unique_ptr<Compaction>> compactions_over_;
  Done<> compacted_;
  bool start_posted_ = false;
  bool held_ = false;
  std::set<std::string> left_;  // prompts that are held
  bool resume_ = false;         // the turn without an end goes on before anything else
  SteadyTime touched_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace beige::sessions

#endif
