#include "cli/chat/turn_view.h"

#include "base/clock.h"

namespace beige::cli {
namespace {
using Kind = SessionEvent::Kind;
constexpr size_t kResultLines = 4;  // of what a call gave that streamed nothing

std::string StopText(const std::string& stop) {
  if (stop == "max_tokens") return "the answer was cut at the model's limit of tokens (max_tokens); say 'go on' to have the rest";
  if (stop == "refused") return "the model refused to answer (refused)";
  if (stop == "max_steps") return "the turn was stopped after its limit of steps (max_steps); say 'go on' to have it continued";
  return "the turn ended: " + stop;
}

std::string Seconds(int64_t ms) { return FormatDuration(std::chrono::ceil<std::chrono::seconds>(std::chrono::milliseconds(ms))); }

// The last line that says something: of a command's result, why it failed.
std::string LastLine(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const size_t start = text.rfind('\n');
  return std::string(start == std::string_view::npos ? text : text.substr(start + 1));
}
}  // namespace

std::string TurnView::On(const SessionEvent& event) {
  std::string clear;
  if (transient_ && event.kind != Kind::kUsage && event.kind != Kind::kOther) {
    clear = "\r\x1b[K";
    transient_ = false;
  }
  switch (event.kind) {
    case Kind::kAccepted: return event.ahead > 0 ? Note(palette_.dim, std::to_string(event.ahead) + (event.ahead == 1 ? " prompt is" : " prompts are") + " answered first") : "";
    case Kind::kModel: {
      const bool other = !model_.empty() && event.name != model_;
      model_ = event.name;
      return clear + (other ? Note(palette_.dim, event.name + " answers") : "");
    }
    case Kind::kText: return clear + OnText(event, Part::kText);
    case Kind::kThinking: return clear + OnText(event, Part::kThinking);
    case Kind::kWriting: {
      if (!style_.live) return "";
      std::string out = clear + Begin(Part::kCalls) + palette_.dim + Cut("  writes " + ForTerminal(event.name) + "... " + BytesText(event.bytes), style_.width - 1) + palette_.off;
      transient_ = true;
      return out;
    }
    case Kind::kCall: return clear + OnCall(event);
    case Kind::kOutput: return clear + OnOutput(event);
    case Kind::kResult: return clear + OnResult(event);
    case Kind::kUsage: usage_ += event.usage; return "";
    case Kind::kSteer: return clear + Note(palette_.dim, "told in between: " + Cut(ForTerminal(event.text), 60));
    case Kind::kCompacted: return clear + Note(palette_.dim, "what was said before is now a summary of " + BytesText(static_cast<int64_t>(event.text.size())));
    case Kind::kWaiting: return clear + Note(palette_.dim, event.code + ": " + event.text + "; waits " + Seconds(event.retry_after_ms) + " and asks again");
    case Kind::kReset: return clear + Note(palette_.dim, event.text);
    case Kind::kDone: return clear + OnDone(event);
    case Kind::kError: return clear + OnError(event);
    case Kind::kAborted: return clear + Close() + Note(palette_.dim, "aborted") + Ended();
    case Kind::kTurn:
    case Kind::kOther: return clear;
  }
  return clear;
}

// Goes on in `part`, with an empty line between parts.
std::string TurnView::Begin(Part part) {
  if (part_ == part && written_) return "";
  std::string out;
  if (part_ == Part::kText || part_ == Part::kThinking) out += text_.End();
  if (!out.empty()) at_start_ = false;
  if (part_ == Part::kThinking) out += palette_.off;
  if (!at_start_) out += '\n';
  if (written_) out += '\n';
  if (part == Part::kThinking) out += palette_.dim;
  part_ = part;
  at_start_ = true;
  written_ = true;
  return out;
}

std::string TurnView::Note(const char* colour, const std::string& text) {
  std::string out = Begin(Part::kCalls);
  return out + "  " + colour + ForTerminal(text) + palette_.off + "\n";
}

std::string TurnView::OnText(const SessionEvent& event, Part part) {
  if (!style_.answer || event.text.empty()) return "";
  // Some models begin with empty lines.
  std::string_view piece = event.text;
  while (part_ != part && piece.starts_with('\n')) piece.remove_prefix(1);
  if (piece.empty()) return "";
  std::string out = Begin(part);
  const std::string text = text_.Feed(piece);
  if (!text.empty()) at_start_ = text.back() == '\n';
  return out + text;
}

std::string TurnView::OnCall(const SessionEvent& event) {
  std::string out = Begin(Part::kCalls);
  Call& call = calls_[event.id];
  std::string line = event.call;
  for (char& c : line) {
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  }
  call.line = Cut(ForTerminal(line), style_.width > 4 ? style_.width - 3 : 1);
  last_call_ = event.id;
  return out + palette_.cyan + "> " + call.line + palette_.off + "\n";
}

std::string TurnView::OutputLine(Call& call, const std::string& id, const std::string& line, const char* colour) {
  if (call.shown >= style_.output_lines) {
    ++call.hidden;
    return "";
  }
  ++call.shown;
  std::string out;
  // Calls run side by side: whose output this is must be seen.
  if (last_call_ != id) out += std::string("  ") + palette_.dim + "[" + Cut(call.line, 40) + "]" + palette_.off + "\n";
  last_call_ = id;
  return out + "  " + colour + Cut(line, style_.width > 6 ? style_.width - 3 : 3) + palette_.off + "\n";
}

std::string TurnView::OnOutput(const SessionEvent& event) {
  const auto it = calls_.find(event.id);
  if (it == calls_.end()) return "";
  Call& call = it->second;
  call.streamed = true;
  call.open += call.text.Feed(event.text);
  std::string out;
  for (size_t end; (end = call.open.find('\n')) != std::string::npos; call.open.erase(0, end + 1)) {
    out += OutputLine(call, event.id, call.open.substr(0, end), palette_.dim);
  }
  // A line without an end is no reason to keep all of it.
  if (call.open.size() > 16 * style_.width) call.open = Cut(call.open, 2 * style_.width);
  return out.empty() ? "" : Begin(Part::kCalls) + out;
}

std::string TurnView::OnResult(const SessionEvent& event) {
  Call& call = calls_[event.id];
  if (call.line.empty()) call.line = ForTerminal(event.name);
  std::string out = Begin(Part::kCalls);
  call.open += call.text.End();
  if (!call.open.empty()) out += OutputLine(call, event.id, call.open, palette_.dim);
  const char* colour = event.is_error ? palette_.red : palette_.dim;
  if (!event.diff.empty() && !event.is_error) {
    out += DiffText(event.diff, palette_, style_.diff_lines);
    last_call_ = event.id;
  } else if (call.streamed && event.is_error) {
    call.shown = 0;  // why it failed is shown whatever came before
    const size_t hidden = call.hidden;
    out += hidden > 0 ? std::string("  ") + palette_.dim + "... " + std::to_string(hidden) + " more lines" + palette_.off + "\n" : "";
    call.hidden = 0;
    out += OutputLine(call, event.id, ForTerminal(LastLine(event.text)), colour);
  } else if (!call.streamed) {
    std::string text = ForTerminal(event.text);
    while (text.ends_with('\n')) text.pop_back();
    size_t lines = 0;
    for (size_t start = 0; start < text.size() && !text.empty();) {
      const size_t end = std::min(text.find('\n', start), text.size());
      if (++lines <= kResultLines) {
        out += OutputLine(call, event.id, text.substr(start, end - start), colour);
      } else {
        ++call.hidden;
      }
      start = end + 1;
    }
  }
  if (call.hidden > 0) out += std::string("  ") + palette_.dim + "... " + std::to_string(call.hidden) + (call.hidden == 1 ? " more line" : " more lines") + palette_.off + "\n";
  calls_.erase(event.id);
  return out;
}

std::string TurnView::OnDone(const SessionEvent& event) {
  std::string out = Close();
  if (event.stop != "end") out += Note(palette_.red, StopText(event.stop));
  return out + Ended();
}

std::string TurnView::OnError(const SessionEvent& event) {
  std::string text = event.code + ": " + event.text;
  if (event.retry_after_ms > 0) text += "; try again in " + Seconds(event.retry_after_ms);
  return Close() + Note(palette_.red, text) + Ended();
}

std::string TurnView::Close() {
  std::string out;
  if (transient_) out += "\r\x1b[K";
  transient_ = false;
  if (part_ == Part::kText || part_ == Part::kThinking) {
    const std::string rest = text_.End();
    if (!rest.empty()) at_start_ = false;
    out += rest;
    if (part_ == Part::kThinking) out += palette_.off;
    if (!at_start_) out += '\n';
    at_start_ = true;
    part_ = Part::kNone;
  }
  calls_.clear();
  return out;
}

// The line at the end: what the turn took.
std::string TurnView::Ended() {
  if (!style_.answer || usage_.total() == 0) return "";
  std::string text = CountText(usage_.input + usage_.cache_read + usage_.cache_write) + " tokens in";
  if (usage_.cache_read > 0) text += " (" + CountText(usage_.cache_read) + " cached)";
  text += ", " + CountText(usage_.output) + " out";
  if (const std::string cost = CostText(usage_.cost_usd); !cost.empty()) text += ", " + cost;
  return Note(palette_.dim, text);
}

}  // namespace beige::cli
