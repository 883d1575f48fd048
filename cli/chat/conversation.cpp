#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/chat/session_list.h"

namespace beige::cli {
namespace {
using nlohmann::ordered_json;
constexpr size_t kResultLines = 12;
constexpr size_t kDiffLines = 60;

std::string TextOf(const ordered_json& value, const char* key) {
  const auto it = value.find(key);
  return it != value.end() && it->is_string() ? it->get<std::string>() : "";
}

// The lines of `text`, indented; the first `most` of them.
std::string Block(const std::string& text, const char* colour, const char* off, size_t most) {
  std::string clean = ForTerminal(text);
  while (clean.ends_with('\n')) clean.pop_back();
  if (clean.empty()) return "";
  std::string out;
  size_t lines = 0;
  for (size_t start = 0; start <= clean.size();) {
    const size_t end = std::min(clean.find('\n', start), clean.size());
    if (++lines <= most) out += std::string("  ") + colour + clean.substr(start, end - start) + off + "\n";
    start = end + 1;
  }
  if (lines > most) out += std::string("  ") + colour + "... " + std::to_string(lines - most) + " more lines" + off + "\n";
  return out;
}

std::string CallLine(const ordered_json& call, const Palette& palette) {
  auto arguments = call.value("arguments", ordered_json::object());
  if (arguments.is_string()) arguments = ordered_json::parse(arguments.get<std::string>(), nullptr, false);
  return std::string("  ") + palette.cyan + "> " + ForTerminal(CallText(TextOf(call, "name"), arguments)) + palette.off + "\n";
}

std::string ResultText(const ordered_json& result, const Palette& palette) {
  if (const std::string diff = TextOf(result, "diff"); !diff.empty()) return DiffText(diff, palette, kDiffLines);
  const auto error = result.find("error");
  const bool failed = error != result.end() && error->is_boolean() && error->get<bool>();
  return Block(TextOf(result, "text"), failed ? palette.red : palette.dim, palette.off, kResultLines);
}

std::string Head(const ordered_json& session, const Palette& palette) {
  const SessionSummary s = ReadSummary(session);
  std::string out = std::string(palette.bold) + ForTerminal(s.title.empty() ? "(nothing said yet)" : s.title) + palette.off + "\n";
  std::string line = s.id + (s.model.empty() ? "" : ", " + s.model) + (s.thinking.empty() ? "" : " (thinking " + s.thinking + ")") + ", " + std::to_string(s.turns) +
                     (s.turns == 1 ? " turn, " : " turns, ") + CountText(s.usage.total()) + " tokens";
  if (const std::string cost = CostText(s.usage.cost_usd); !cost.empty()) line += ", " + cost;
  if (s.state == "running") line += ", running";
  return out + palette.dim + ForTerminal(line) + palette.off + "\n";
}
}  // namespace

std::string ConversationText(const ordered_json& session, const Palette& palette, bool with_head) {
  std::string out = with_head ? Head(session, palette) : "";
  const auto messages = session.value("messages", ordered_json::array());
  for (const auto& message : messages) {
    if (!message.is_object()) continue;
    const std::string role = TextOf(message, "role");
    std::string who = TextOf(message, role == "assistant" ? "model" : "actor");
    if (role == "user") who = who.empty() || who == "local" ? "you" : who;
    if (who.empty()) who = role;
    std::string body;
    if (role == "result" || role == "tool") {
      body = ResultText(message, palette);
      out += body;
      continue;
    }
    body += Block(TextOf(message, "thinking"), palette.dim, palette.off, kResultLines);
    body += Block(TextOf(message, "text"), "", "", static_cast<size_t>(-1));
    for (const auto& call : message.value("calls", ordered_json::array())) {
      if (call.is_object()) body += CallLine(call, palette);
    }
    if (const auto images = message.find("images"); images != message.end() && images->is_array() && !images->empty()) {
      body += std::string("  ") + palette.dim + "[" + std::to_string(images->size()) + (images->size() == 1 ? " image]" : " images]") + palette.off + "\n";
    }
    out += (out.empty() ? "" : "\n") + std::string(palette.bold) + ForTerminal(who) + palette.off + "\n" + body;
  }
  return out;
}

}  // namespace beige::cli
