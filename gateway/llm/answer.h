#ifndef BEIGE_GATEWAY_LLM_ANSWER_H_
#define BEIGE_GATEWAY_LLM_ANSWER_H_

#include <string>
#include <string_view>
#include <vector>

#include "gateway/llm/event.h"

namespace beige::llm {

// Holds the order of event.h for every dialect: what a codec reads is said here, and comes out as events that keep the promises made
// there. Calls are given for running only by Finish(), so a stream that was cut gives none.
class Answer {
 public:
  Answer(LlmApi api, Sink sink) : api_(api), sink_(std::move(sink)) {}

  void Start(std::string_view id, std::string_view model);  // the first counts; others are ignored
  void Text(std::string_view text);
  void Think(std::string_view text);
  void EndThought(std::string signature, bool redacted = false);
  int Call(std::string_view id, std::string_view name);  // its index
  void CallArgs(int index, std::string_view more);
  void CallArgsWhole(int index, std::string_view arguments);  // the deltas, if any came, should have said the same; these count
  void CallSignature(int index, std::string_view signature);
  bool Grow(size_t bytes);  // counts what a codec keeps; false when the answer is too large, which has ended it
  void SetUsage(const Usage& usage);
  void SetStop(StopReason reason, std::string_view detail);
  void Finish();  // without SetStop before, the answer was cut: Failed
  void Fail(Failure failure);

  bool ended() const { return ended_; }
  bool has_stop() const { return has_stop_; }
  const Usage& usage() const { return usage_; }
  size_t calls() const { return calls_.size(); }

 private:
  void Emit(const Event& event) { sink_(event); }
  void CloseThought();
  void EmitCalls();
  void EmitUsage();

  const LlmApi api_;
  const Sink sink_;
  std::vector<ToolCall> calls_;
  Usage usage_;
  Stopped stop_;
  size_t bytes_ = 0;
  bool started_ = false;
  bool content_ = false;
  bool thought_open_ = false;
  bool has_usage_ = false;
  bool has_stop_ = false;
  bool ended_ = false;
};

}  // namespace beige::llm

#endif
