#include "cli/chat/prompt.h"

#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/chat/follow_turn.h"
#include "cli/chat/turn_view.h"
#include "cli/exec/terminal.h"
#include "cli/gateway_api.h"
#include "cli/report.h"
#include "cli/wait.h"

namespace beige::cli {
namespace {
using nlohmann::ordered_json;
constexpr size_t kLongestText = 1u << 20;  // docs/sessions.md

Result<std::string> ReadStdin() {
  std::string text;
  char chunk[65536];
  ssize_t n = 0;
  while ((n = ::read(STDIN_FILENO, chunk, sizeof chunk)) > 0) {
    text.append(chunk, static_cast<size_t>(n));
    if (text.size() > kLongestText) return Fail(Code::kInvalid, "stdin has more than 1 MiB; put it into a file of the workspace and name that");
  }
  if (n < 0) return FailErrno(errno, "read stdin");
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

Result<PromptBody> ToBody(const PromptOptions& options) {
  PromptBody body;
  body.text = options.text;
  if (options.text.empty() && ::isatty(STDIN_FILENO) == 1) return Fail(Code::kInvalid, "want a TEXT, or - to read it from stdin; 'beige chat " + options.name + "' is the conversation");
  if (options.text.empty() || options.text == "-") {
    BEIGE_ASSIGN(body.text, ReadStdin());
  }
  if (body.text.find_first_not_of(" \t\r\n") == std::string::npos) return Fail(Code::kInvalid, "the text is empty; want what is to be said to the agent");
  body.session = options.session;
  body.model = options.model;
  body.thinking = options.thinking;
  for (const auto& file : options.images) {
    BEIGE_ASSIGN(PromptImage image, ReadImage(file));
    body.images.push_back(std::move(image));
  }
  return body;
}

void PrintResult(const Globals& globals, const TurnResult& turn) {
  const ordered_json error = turn.error_code.empty() ? ordered_json(nullptr) : ordered_json{{"code", turn.error_code}, {"message", turn.error_message}};
  const TokenUsage& u = turn.usage;
  const ordered_json out{{"session", turn.session},
                         {"prompt", turn.prompt},
                         {"text", turn.text},
                         {"stop", turn.aborted ? ordered_json("aborted") : turn.stop.empty() ? ordered_json(nullptr) : ordered_json(turn.stop)},
                         {"usage", {{"input", u.input}, {"output", u.output}, {"cacheRead", u.cache_read}, {"cacheWrite", u.cache_write}, {"costUsd", u.cost_usd}}},
                         {"error", error}};
  PrintStructured(globals, out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}
}  // namespace

int RunPrompt(const Globals& globals, const PromptOptions& options) {
  const auto body = ToBody(options);
  if (!body) return Report("prompt", body.error());
  const HomePaths paths = globals.paths();
  if (const auto gateway = FindGateway(paths); !gateway) return Report("prompt", gateway.error());
  if (const int status = AwaitReady(globals, "prompt", options.name, options.timeout); status != kDone) return status;

  CaughtSignals signals({SIGINT, SIGTERM, SIGHUP});
  const bool on_terminal = ::isatty(STDERR_FILENO) == 1;
  TurnView view({WantsColour(STDERR_FILENO), on_terminal, false, on_terminal ? CurrentTerminalSize().columns : size_t{120}});
  const auto turn = FollowTurn(paths, globals.Key(options.name), *body, signals, [&](const SessionEvent& event) {
    if (!options.verbose || event.kind == SessionEvent::Kind::kError || event.kind == SessionEvent::Kind::kAborted || event.kind == SessionEvent::Kind::kDone) return;
    const std::string text = view.On(event);
    static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()) >= 0);
  });
  if (!turn) return Report("prompt", turn.error());
  if (globals.structured()) {
    PrintResult(globals, *turn);
  } else if (!turn->text.empty() && !turn->aborted && turn->error_code.empty()) {
    const std::string text = ::isatty(STDOUT_FILENO) == 1 ? ForTerminal(turn->text) : turn->text;
    Print(text.ends_with('\n') ? text : text + "\n");
  }
  const std::string see = "; 'beige sessions show " + options.name + " " + turn->session + "' has what was said";
  if (turn->signal != 0 && (turn->aborted || turn->left)) {
    PrintError("prompt", "interrupted; the turn was aborted" + see);
    return 128 + turn->signal;
  }
  if (turn->aborted) return Report("prompt", kFailed, "the turn was aborted by somebody else" + see);
  if (!turn->error_code.empty()) {
    std::string text = turn->error_code + ": " + turn->error_message;
    if (turn->retry_after_ms > 0) text += "; try again in " + FormatDuration(std::chrono::ceil<std::chrono::seconds>(std::chrono::milliseconds(turn->retry_after_ms)));
    PrintError("prompt", text + see);
    return StatusOfTurnError(turn->error_code);
  }
  if (turn->stop != "end") return Report("prompt", kFailed, "the answer is not whole: " + turn->stop + see);
  return kDone;
}

}  // namespace beige::cli
