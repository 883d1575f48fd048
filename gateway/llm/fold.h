#ifndef BEIGE_GATEWAY_LLM_FOLD_H_
#define BEIGE_GATEWAY_LLM_FOLD_H_

#include <string>
#include <vector>

#include "gateway/llm/event.h"

namespace beige::llm {

// The events of one answer as the assistant's message that goes into the conversation: texts and thoughts in their order, then the calls
// that may be run. Broken calls are not in it: a provider would refuse them, or want a result; they stand in `broken`.
class Fold {
 public:
  explicit Fold(LlmApi api) : api_(api) {}

  void Add(const Event& event);

  const Message& message() const { return message_; }
  std::vector<ToolCall> Calls() const;
  const std::vector<ToolCallBroken>& broken() const { return broken_; }
  const Usage& usage() const { return usage_; }

 private:
  const LlmApi api_;
  Message message_{Role::kAssistant, {}};
  std::vector<ToolCallBroken> broken_;
  Usage usage_;
  bool thought_open_ = false;
};

}  // namespace beige::llm

#endif
