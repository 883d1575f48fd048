#include <algorithm>

#include "gateway/sessions/compaction_text.h"

namespace beige::sessions {
namespace {
constexpr size_t kMaxResult = 2000;

// The start of the character at `at`.
size_t Floor(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return std::min(at, text.size());
}
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
        out += (result->is_error ? "It failed: " : "Result: ") + result->text.substr(0, Floor(result->text, kMaxResult)) + (result->text.size() > kMaxResult ? " [...]" : "") + "\n\n";
      } else if (std::holds_alternative<llm::Image>(part)) {
        out += "User shows an image.\n\n";
      }
    }
  }
  if (out.size() <= limit) return out;
  const size_t head = Floor(out, limit / 3);
  const size_t tail = Floor(out, out.size() - (limit - limit / 3));
  return out.substr(0, head) + "\n\n[... " + std::to_string(tail - head) + " bytes left out ...]\n\n" + out.substr(tail);
}

}  // namespace beige::sessions
