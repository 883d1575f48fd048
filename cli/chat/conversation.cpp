#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/chat/session_list.h"

namespace beige::cli {
namespace {
using nlohmann::ordered_json;
constexpr size_t kThoughtLines = 6;
constexpr size_t kResultLines = 12;
constexpr size_t kDiffLines = 60;
constexpr size_t kAll = static_cast<size_t>(-1);

std::string ImagesText(const ordered_json& value) {
  const auto images = value.find("images");
  if (images == value.end() || !images->is_array() || images->empty()) return "";
  return "[" + std::to_string(images->size()) + (images->size() == 1 ? " image]" : " images]");
}

// Reads record after record (docs/sessions.md) and writes what a person would want to see of it.
class Conversation {
 public:
  explicit Conversation(const Palette& palette) : palette_(palette) {}

  void Take(const ordered_json& record) {
    const std::string type = TextIn(record, "type");
    if (type == "prompt") {
      const std::string actor = TextIn(record, "actor");  // "default" is the home's own token, which this program uses
      const bool between = TrueIn(record, "steer");
      Who((actor.empty() || actor == "local" || actor == "default" ? "you" : actor) + (between ? " (in between)" : ""), TextIn(record, "at"));
      Block(TextIn(record, "text"), "", kAll);
      Block(ImagesText(record), palette_.dim, 1);
    } else if (type == "answer") {
      const std::string model = TextIn(record, "model");
      if (who_ != model) Who(model, TextIn(record, "at"));
      Answer(record);
    } else if (type == "result") {
      Result(record);
    } else if (type == "end") {
      End(record);
    } else if (type == "drop") {
      Block("taken back before its turn", palette_.dim, 1);
    } else if (type == "model") {
      const std::string model = TextIn(record, "model");
      const std::string thinking = TextIn(record, "thinkingLevel");
      out_ += "\n";
      Block("from here on: " + (model.empty() ? "the agent's first choice" : model) + (thinking.empty() ? "" : ", thinking " + thinking), palette_.dim, 1);
      who_.clear();
    } else if (type == "compaction") {
      Who("summary of what was said before", TextIn(record, "at"));
      Block(TextIn(record, "summary"), palette_.dim, kAll);
    }
  }
  std::string Done() { return std::move(out_); }

 private:
  void Who(const std::string& who, const std::string& at) {
    who_ = who;
    out_ += (out_.empty() ? "" : "\n") + std::string(palette_.bold) + ForTerminal(who) + palette_.off;
    // 2026-11-29T12:00:00.000Z to the minute; it is UTC, as everywhere in the product.
    if (at.size() >= 16) out_ += std::string("  ") + palette_.dim + ForTerminal(at.substr(0, 10) + " " + at.substr(11, 5)) + palette_.off;
    out_ += "\n";
  }

  // The first `most` lines of `text`, indented.
  void Block(const std::string& text, const char* colour, size_t most) {
    std::string clean = ForTerminal(text);
    while (clean.ends_with('\n')) clean.pop_back();
    if (clean.empty()) return;
    size_t lines = 0;
    for (size_t start = 0; start <= clean.size();) {
      const size_t end = std::min(clean.find('\n', start), clean.size());
      if (++lines <= most) out_ += std::string("  ") + colour + clean.substr(start, end - start) + (*colour == '\0' ? "" : palette_.off) + "\n";
      start = end + 1;
    }
    if (lines > most) out_ += std::string("  ") + palette_.dim + "... " + std::to_string(lines - most) + (lines - most == 1 ? " more line" : " more lines") + palette_.off + "\n";
  }

  void Answer(const ordered_json& record) {
    for (const auto& part : record.value("parts", ordered_json::array())) {
      if (!part.is_object()) continue;
      const std::string type = TextIn(part, "type");
      if (type == "thinking") Block(TextIn(part, "text"), palette_.dim, kThoughtLines);
      if (type == "text") Block(TextIn(part, "text"), "", kAll);
      if (type != "call") continue;
      auto arguments = part.value("arguments", ordered_json::object());
      if (arguments.is_string()) arguments = ordered_json::parse(arguments.get<std::string>(), nullptr, false);
      std::string line = CallText(TextIn(part, "name"), arguments);
      std::replace_if(line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');  // the second would become the first
      Block("> " + line, palette_.cyan, 1);
    }
    if (const std::string why = TextIn(record, "unfinished"); !why.empty()) Block("(not finished: " + why + ")", palette_.dim, 1);
  }

  void Result(const ordered_json& record) {
    const bool failed = TrueIn(record, "error");
    if (const std::string diff = TextIn(record, "diff"); !diff.empty() && !failed) {
      out_ += DiffText(diff, palette_, kDiffLines);
    } else {
      Block(TextIn(record, "text"), failed ? palette_.red : palette_.dim, kResultLines);
    }
    Block(ImagesText(record), palette_.dim, 1);
  }

  void End(const ordered_json& record) {
    const std::string outcome = TextIn(record, "outcome");
    const std::string code = TextIn(record, "code");
    const std::string message = TextIn(record, "message");
    if (outcome == "error") Block(code + (message.empty() ? "" : ": " + message), palette_.red, kResultLines);
    if (outcome == "aborted") Block("aborted", palette_.dim, 1);
    if (outcome == "done" && code != "end") Block("(stopped: " + code + ")", palette_.red, 1);
    who_.clear();
  }

  const Palette& palette_;
  std::string who_;  // whose words stand last
  std::string out_;
};

std::string Head(const ordered_json& session, const Palette& palette) {
  const SessionSummary s = ReadSummary(session);
  const std::string title = s.title.empty() ? "(nothing said yet)" : s.title;
  std::string line = s.id + (s.model.empty() ? "" : ", " + s.model) + (s.thinking.empty() ? "" : " (thinking " + s.thinking + ")") + ", " + std::to_string(s.turns) +
                     (s.turns == 1 ? " turn, " : " turns, ") + CountText(s.usage.total()) + " tokens";
  if (const std::string cost = CostText(s.usage.cost_usd); !cost.empty()) line += ", " + cost;
  if (s.state == "running") line += ", running";
  return std::string(palette.bold) + ForTerminal(title) + palette.off + "\n" + palette.dim + ForTerminal(line) + palette.off + "\n";
}
}  // namespace

std::string ConversationText(const ordered_json& session, const Palette& palette) {
  Conversation conversation(palette);
  const auto messages = session.value("messages", ordered_json::array());
  for (const auto& message : messages) {
    if (message.is_object()) conversation.Take(message);
  }
  const std::string said = conversation.Done();
  return Head(session, palette) + (said.empty() ? "" : "\n" + said);
}

}  // namespace beige::cli
