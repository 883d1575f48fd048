#ifndef BEIGE_CLI_CHAT_TURN_VIEW_H_
#define BEIGE_CLI_CHAT_TURN_VIEW_H_

#include <map>
#include <string>

#include "cli/chat/session_event.h"
#include "cli/chat/terminal_text.h"

namespace beige::cli {

struct ViewStyle {
  bool colour = false;
  bool live = false;   // a terminal: a line may be written over
  bool answer = true;  // text and thoughts too, not only calls and how it ended
  size_t width = 80;
  size_t output_lines = 10;  // shown of one call; the rest is counted
  size_t diff_lines = 40;
};

// A turn as a person sees it, event by event: each gives what is to be written to the terminal next. Pure. Nothing that a model or a
// command says reaches the terminal with a control character in it.
class TurnView {
 public:
  explicit TurnView(ViewStyle style) : style_(style), palette_(Palette::Of(style.colour)) {}

  std::string On(const SessionEvent& event);
  // Ends what is open, when no more events come.
  std::string Close();
  const TokenUsage& usage() const { return usage_; }
  void SetModel(std::string model) { model_ = std::move(model); }  // that the person expects: another one that answers is named

 private:
  enum class Part { kNone, kText, kThinking, kCalls };
  struct Call {
    std::string line;
    TerminalText text;
    std::string open;     // of a line of output that has no end yet
    size_t shown = 0;
    size_t hidden = 0;
    bool streamed = false;
  };
  std::string Begin(Part part);
  std::string Note(const char* colour, const std::string& text);
  std::string OnText(const SessionEvent& event, Part part);
  std::string OnCall(const SessionEvent& event);
  std::string OnOutput(const SessionEvent& event);
  std::string OnResult(const SessionEvent& event);
  std::string OutputLine(Call& call, const std::string& id, const std::string& line, const char* colour);
  std::string OnDone(const SessionEvent& event);
  std::string OnError(const SessionEvent& event);
  std::string Ended();

  const ViewStyle style_;
  const Palette palette_;
  TokenUsage usage_;
  std::string model_;
  Part part_ = Part::kNone;
  bool written_ = false;     // anything at all
  bool at_start_ = true;     // of a line
  bool transient_ = false;   // the line on the screen is to be written over
  TerminalText text_;
  std::map<std::string, Call> calls_;  // that run, by id
  std::string last_call_;    // whose lines are at the bottom of the screen
};

}  // namespace beige::cli

#endif
