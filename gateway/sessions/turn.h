#ifndef BEIGE_GATEWAY_SESSIONS_TURN_H_
#define BEIGE_GATEWAY_SESSIONS_TURN_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/llm/fold.h"
#include "gateway/sessions/answer_keeper.h"
#include "gateway/sessions/compaction.h"
#include "gateway/sessions/model_request.h"
#include "gateway/sessions/session.h"

namespace beige::sessions {

// One prompt's turn: asks the model, runs what it calls, tells it the results, and so on until it calls nothing. Every step stands in the
// session's file before the next one is taken, so nothing is done that is not on record. Ends once, by Session::TurnOver.
class Turn {
 public:
  static constexpr int kMaxSteps = 250;        // requests to a model
  static constexpr int kMaxBroken = 3;         // answers in a row with nothing but broken calls
  static constexpr size_t kMaxShown = 8192;    // bytes of a result in its event
  static constexpr size_t kMaxOutput = 65536;  // bytes of one call's output events

  Turn(Session& session, Said said, bool resumes);  // resumes: it was begun by a gateway that is gone
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  const std::string& prompt() const { return said_.prompt; }
  bool detached() const { return said_.detach; }
  void Begin();
  void Abort();
  void Leave() { kept_.Save(); }  // to a later gateway, as a crash would, but with all that there is

 private:
  struct Running {
    llm::ToolCall call;
    ToolRunner::Id id = 0;
    size_t shown = 0;
  };

  void ReadAgentsMd();
  void Ask();
  bool TakeSteering();
  bool CompactFirst(const Mind& mind);  // true: begun, and Ask comes again after it
  void Compact(const Mind& mind, size_t keep);
  void OnEvent(const llm::Event& event);
  void OnWriting(int index, std::string_view name, size_t bytes);
  void OnAnswer(llm::Stopped stopped);
  void OnFailed(llm::Failure failure);
  bool TryLater(const llm::Failure& failure);
  bool WriteUnfinished(const std::string& why);  // what there was of an answer that did not end well; ends its request
  bool CloseCalls(std::string_view running, std::string_view others);  // ends what runs, and gives every call without a result one that says so
  void RunCalls(std::vector<llm::ToolCall> calls);
  void OnResult(const std::string& id, ToolOutcome outcome);
  void End(std::string_view outcome, std::string code, std::string message, std::optional<std::chrono::milliseconds> retry_after = {});

  Session& session_;
  Services& services_;
  const Said said_;
  const bool resumes_;
  std::unique_ptr<ModelRequest> request_;
  std::unique_ptr<Compaction> compaction_;
  std::unique_ptr<Compaction> past_compaction_;
  std::optional<llm::Fold> fold_;
  AnswerKeeper kept_;
  std::string model_;  // that answers
  std::map<int, std::pair<std::string, size_t>> writing_;
  std::map<std::string, Running> running_;  // by the call's id
  ToolRunner::Id reading_ = 0;              // AGENTS.md
  Timer wait_;
  int steps_ = 0;
  int broken_ = 0;
  int waits_ = 0;
  bool compacted_for_length_ = false;
  bool ended_ = false;
};

}  // namespace beige::sessions

#endif
