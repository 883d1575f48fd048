#ifndef BEIGE_CLI_CHAT_FOLLOW_TURN_H_
#define BEIGE_CLI_CHAT_FOLLOW_TURN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/paths.h"
#include "base/result.h"
#include "cli/chat/session_event.h"
#include "cli/chat/signals.h"

namespace beige::cli {

struct PromptImage {
  std::string media_type;
  std::string bytes;
};
Result<PromptImage> ReadImage(const std::string& file);  // png, jpeg, gif or webp, by its first bytes

// The body of POST /prompt.
struct PromptBody {
  std::string text;
  std::string session;   // "" = a new one
  std::string model;     // "" = as before
  std::string thinking;  // "" = as before
  std::vector<PromptImage> images;
};
std::string EncodePrompt(const PromptBody& body);
// The session's model and level; "" = as they are.
std::string EncodeModel(const std::string& model, const std::string& thinking);

// How a turn ended.
struct TurnResult {
  std::string session;
  std::string prompt;
  std::string text;     // of the model's last answer
  std::string stop;     // "" = it did not end by itself
  TokenUsage usage;
  std::string error_code;     // "" = no error
  std::string error_message;
  int64_t retry_after_ms = 0;
  bool aborted = false;
  int signal = 0;       // that the person sent; twice SIGINT, or another than SIGINT, leaves without waiting for the end
  bool left = false;    // the stream was not read to its end
};

// Says `body` to the agent and reads the turn to its end. SIGINT aborts the turn: its end is still read. Errors: what the gateway says to
// the request, Unavailable when it goes away in the middle.
Result<TurnResult> FollowTurn(const HomePaths& paths, const AgentKey& agent, const PromptBody& body, CaughtSignals& signals,
                              const std::function<void(const SessionEvent&)>& on_event);

// Exit status for the code of an error event: what may pass by itself is kUnavailable.
int StatusOfTurnError(const std::string& code);

}  // namespace beige::cli

#endif
