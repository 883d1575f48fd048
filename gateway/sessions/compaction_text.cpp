#include "gateway/sessions/compaction_text.h"

#include "api/utf8.h"

namespace beige::sessions {
namespace {
constexpr size_t kMaxResult = 2000;
}  // namespace

std::string Narrate(const std::vector<llm::MessageRef>& messages, size_t limit) {
  std::string out;
  for (const llm::MessageRef& message : messages) {
    for (const llm::Part& part : message->parts) {
      if (const auto* text = std::get_if<llm::Text>(&part)) {
        out += (message->role == llm::Role::kUser ? "User: " : "Agent: ") + text->text + "\n\n";
      } else if (const auto* call = std::get_if<llm::ToolCall>(&part)) {
        out += "Agent calls " + call->name + " " + call->arguments + "\n\n";
      } else if (const auto* result = std::get_if<llm::ToolResult>(&part)) {
        out += (result->is_error ? "It failed: " : "Result: ") + result->text.substr(0, CharacterStart(result->text, kMaxResult)) + (result->text.size() > kMaxResult ? " [...]" : "") + "\n\n";
      } else if (std::holds_alternative<llm::Image>(part)) {
        out += "User shows an image.\n\n";
      }
    }
  }
  if (out.size() <= limit) return out;
  const size_t head = CharacterStart(out, limit / 3);
  const size_t tail = CharacterStart(out, out.size() - (limit - limit / 3));
  return out.substr(0, head) + "\n\n[... " + std::to_string(tail - head) + " bytes left out ...]\n\n" + out.substr(tail);
}

}  // namespace beige::sessions
