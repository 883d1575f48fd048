#include "gateway/llm/fold.h"

#include <utility>

namespace beige::llm {

void Fold::Add(const Event& event) {
  std::vector<Part>& parts = message_.parts;
  if (const auto* text = std::get_if<TextDelta>(&event)) {
    if (parts.empty() || !std::holds_alternative<Text>(parts.back())) parts.emplace_back(Text{});
    std::get<Text>(parts.back()).text += text->text;
  } else if (const auto* thought = std::get_if<ThinkingDelta>(&event)) {
    if (!std::exchange(thought_open_, true)) parts.emplace_back(Thinking{"", "", false, api_});
    std::get<Thinking>(parts.back()).text += thought->text;
  } else if (const auto* end = std::get_if<ThinkingEnd>(&event)) {
    if (!std::exchange(thought_open_, false)) parts.emplace_back(Thinking{"", "", false, api_});
    std::get<Thinking>(parts.back()).signature = end->signature;
    std::get<Thinking>(parts.back()).redacted = end->redacted;
  } else if (const auto* call = std::get_if<ToolCallEnd>(&event)) {
    parts.emplace_back(call->call);
  } else if (const auto* broken = std::get_if<ToolCallBroken>(&event)) {
    broken_.push_back(*broken);
  } else if (const auto* usage = std::get_if<Usage>(&event)) {
    usage_ = *usage;
  }
}

std::vector<ToolCall> Fold::Calls() const {
  std::vector<ToolCall> calls;
  for (const Part& part : message_.parts) {
    if (const auto* call = std::get_if<ToolCall>(&part)) calls.push_back(*call);
  }
  return calls;
}

}  // namespace beige::llm
