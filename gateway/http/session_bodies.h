#ifndef BEIGE_GATEWAY_HTTP_SESSION_BODIES_H_
#define BEIGE_GATEWAY_HTTP_SESSION_BODIES_H_

#include <optional>
#include <string>
#include <string_view>

#include "gateway/http/strict_json.h"
#include "gateway/sessions/sessions.h"

namespace beige {

// The bodies of docs/sessions.md, as strict as DecodeExecBody.
struct PromptBody {
  sessions::Prompt prompt;  // without agent and actor
  bool stream = true;
  bool beige = false;       // its caller wants {"response"}
};
constexpr size_t kMaxPromptText = 1u << 20;
constexpr size_t kMaxPromptImages = 20;
constexpr size_t kMaxSessionKey = 1000;
BodyResult<PromptBody> DecodePromptBody(std::string_view json);

// {"message","sessionKey"} of Beige's own route: what it says of `agent`, in the session that the key stands for.
BodyResult<PromptBody> DecodeBeigePrompt(std::string_view json, const std::string& agent);

struct ChoiceBody {
  std::optional<std::string> model;
  std::optional<llm::ThinkingLevel> thinking;
};
BodyResult<ChoiceBody> DecodeNewSessionBody(std::string_view json);  // "" is {}
BodyResult<ChoiceBody> DecodeModelBody(std::string_view json);       // `model` is there
BodyResult<std::string> DecodeAbortBody(std::string_view json);      // the prompt's id or ""; "" is {}
BodyResult<> DecodeEmptyBody(std::string_view json);                 // "" or {}

}  // namespace beige

#endif
