#include "cli/chat/chat.h"

#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <optional>

#include "cli/chat/turn_view.h"
#include "cli/exec/terminal.h"
#include "cli/gateway_api.h"
#include "cli/report.h"
#include "cli/wait.h"

namespace beige::cli {
namespace {
// What is typed while the agent answers is read afterwards, and would only stand in the middle of the answer.
class NoEcho {
 public:
  NoEcho() {
    termios mode{};
    if (::tcgetattr(STDIN_FILENO, &mode) != 0) return;
    before_ = mode;
    mode.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    mode.c_lflag |= NOFLSH;  // Ctrl-C aborts the answer; it does not throw away what was typed
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
  }
  ~NoEcho() {
    if (before_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
  }
  NoEcho(const NoEcho&) = delete;
  NoEcho& operator=(const NoEcho&) = delete;

 private:
  std::optional<termios> before_;
};

bool Blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }
}  // namespace

Chat::Chat(const Globals& globals, const ChatOptions& options, CaughtSignals& signals)
    : globals_(globals),
      options_(options),
      signals_(signals),
      agent_(globals.Key(options.name)),
      on_terminal_(::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1),
      colour_(on_terminal_ && WantsColour(STDOUT_FILENO)),
      palette_(Palette::Of(colour_)),
      model_(options.model),
      thinking_(options.thinking) {
  lines_ = on_terminal_ ? MakeLineEditor(signals, {options.name + "> ", colour_, globals.paths().ChatHistory(), Commands()}) : MakePlainLines(signals);
}

int Chat::Run() {
  if (!Begin()) return status_;
  if (on_terminal_) Greet();
  bool interrupted = false;  // by the line before, at an empty prompt
  std::string more;          // lines that ended in a backslash
  while (!over_) {
    const TypedLine line = lines_->Read();
    if (line.signal != 0) {
      if (line.signal != SIGINT || interrupted || !on_terminal_) return 128 + line.signal;
      interrupted = true;
      more.clear();
      Note("Ctrl-C again or Ctrl-D leaves");
      continue;
    }
    interrupted = false;
    if (line.ended) break;
    if (line.text.ends_with('\\') && on_terminal_) {
      more += line.text.substr(0, line.text.size() - 1) + "\n";
      continue;
    }
    const std::string text = more + line.text;
    more.clear();
    if (Blank(text)) continue;
    if (text.starts_with("//")) {
      Say(text.substr(1));
    } else if (text.starts_with('/')) {
      Command(text);
    } else {
      Say(text);
    }
  }
  return status_;
}

bool Chat::Begin() {
  if (!options_.session.empty()) return Open(options_.session);
  if (!options_.go_on) return true;
  const auto sessions = ListSessions(globals_.paths(), agent_);
  if (!sessions) return Failed(sessions.error()) == kDone;
  if (!sessions->empty()) return Open(sessions->front().id);
  if (on_terminal_) Note("there is no session to go on with; this is a new one");
  return true;
}

void Chat::Greet() { Note("Talking to " + options_.name + ". /help shows the commands, Ctrl-C aborts an answer, Ctrl-D leaves."); }

void Chat::Say(const std::string& text) {
  PromptBody body;
  body.text = text;
  body.session = session_;
  body.model = model_;
  body.thinking = thinking_;
  TurnView view({colour_, on_terminal_, true, Width()});
  view.SetModel(answering_);
  std::optional<NoEcho> quiet;
  if (on_terminal_) {
    quiet.emplace();
    Print("\n");
  }
  const auto turn = FollowTurn(globals_.paths(), agent_, body, signals_, [&](const SessionEvent& event) {
    if (event.kind == SessionEvent::Kind::kAccepted) session_ = event.session;
    if (event.kind == SessionEvent::Kind::kModel) answering_ = event.name;
    if (const std::string out = view.On(event); !out.empty()) Print(out);
  });
  Print(view.Close());
  if (!turn) {
    static_cast<void>(Failed(turn.error()));
    if (turn.error().code == Code::kUnavailable && !FindGateway(globals_.paths())) over_ = true;
    if (on_terminal_) Print("\n");
    return;
  }
  model_.clear();
  thinking_.clear();
  if (turn->left) {
    over_ = true;
    status_ = 128 + turn->signal;
    if (on_terminal_) Print("\n");
    return;
  }
  if (!on_terminal_ && turn->signal != 0) {
    over_ = true;
    status_ = 128 + turn->signal;
  } else if (!turn->error_code.empty()) {
    status_ = on_terminal_ ? kDone : StatusOfTurnError(turn->error_code);
  }
  if (on_terminal_) Print("\n");
}

void Chat::Note(const std::string& text) { Print(std::string(palette_.dim) + ForTerminal(text) + palette_.off + "\n"); }

int Chat::Failed(const Error& error) {
  const int status = Report("chat", error);
  if (!on_terminal_ || session_.empty()) status_ = status;
  return status;
}

size_t Chat::Width() const { return on_terminal_ ? CurrentTerminalSize().columns : size_t{120}; }

int RunChat(const Globals& globals, const ChatOptions& options) {
  if (options.go_on && !options.session.empty()) return Report("chat", kUsage, "--session and --continue: want one of them");
  if (const auto gateway = FindGateway(globals.paths()); !gateway) return Report("chat", gateway.error());
  if (const int status = AwaitReady(globals, "chat", options.name, options.timeout); status != kDone) return status;
  CaughtSignals signals({SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT});
  return Chat(globals, options, signals).Run();
}

}  // namespace beige::cli
