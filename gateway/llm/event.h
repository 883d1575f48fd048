#ifndef BEIGE_GATEWAY_LLM_EVENT_H_
#define BEIGE_GATEWAY_LLM_EVENT_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "gateway/llm/model.h"

// What a model answers, in no provider's words. One answer is
//   Started (TextDelta | ThinkingDelta | ThinkingEnd | ToolCallStart | ToolCallArgs)* (ToolCallEnd | ToolCallBroken)* [Usage] Stopped
// or, at any point, [Usage] Failed. Exactly one Stopped or Failed ends it and nothing follows.
namespace beige::llm {

struct Started {
  std::string id;           // the provider's, "" when it has none
  std::string model;        // as the provider calls it
  ModelName asked{};        // as gateway.yaml calls it; filled in by Llm
  bool operator==(const Started&) const = default;
};

struct TextDelta {
  std::string text;
  bool operator==(const TextDelta&) const = default;
};

struct ThinkingDelta {
  std::string text;
  bool operator==(const ThinkingDelta&) const = default;
};

// Closes the thought whose deltas came since the last one; `redacted` and some signed thoughts have no deltas.
struct ThinkingEnd {
  std::string signature;
  bool redacted = false;
  bool operator==(const ThinkingEnd&) const = default;
};

// Start and arguments are for the eye only. `index` counts the calls of the answer from 0; parallel calls may interleave.
struct ToolCallStart {
  int index = 0;
  std::string id;
  std::string name;
  bool operator==(const ToolCallStart&) const = default;
};
struct ToolCallArgs {
  int index = 0;
  std::string text;
  bool operator==(const ToolCallArgs&) const = default;
};

// A call that may be run: the answer came to its own end, was not cut by a limit, and `arguments` is a JSON object.
struct ToolCallEnd {
  int index = 0;
  ToolCall call;
  bool operator==(const ToolCallEnd&) const = default;
};

// A call that must not be run: cut by the limit of tokens, without the name of a tool, or its arguments are no JSON object. `why` is meant for the model.
struct ToolCallBroken {
  int index = 0;
  std::string id;
  std::string name;
  std::string why;
  bool operator==(const ToolCallBroken&) const = default;
};

// The four kinds are disjoint; `thinking` is a part of `output` that the provider tells apart.
struct Usage {
  int64_t input = 0;  // not from a cache
  int64_t output = 0;
  int64_t cache_read = 0;
  int64_t cache_write = 0;
  int64_t thinking = 0;
  double cost_usd = 0;  // filled in by Llm, from the price table in gateway.yaml
  Usage& operator+=(const Usage& other);
  bool operator==(const Usage&) const = default;
};

enum class StopReason { kEnd, kMaxTokens, kToolUse, kRefused };
struct Stopped {
  StopReason reason = StopReason::kEnd;
  std::string detail;  // the provider's own word
  bool operator==(const Stopped&) const = default;
};

enum class ErrorClass {
  kRateLimit,
  kOverloaded,     // the provider's own trouble: 5xx, 529, "overloaded"
  kAuth,           // key, permission, or an account that can't pay
  kContextLength,  // the conversation is too long for the model
  kBadRequest,     // the provider refuses the request, or the model is unknown
  kNetwork,        // no connection, no TLS, or it broke
  kStalled,        // too long without an answer, or without a byte in the middle of one
  kProtocol,       // what came is not an answer
  kCooling,        // every model is cooling down; nothing was sent
  kBusy,           // the provider's places stayed taken until the deadline; nothing was sent
};
std::string_view ErrorClassName(ErrorClass kind);  // "rate_limit": metrics, JSON

struct Failure {
  ErrorClass kind = ErrorClass::kProtocol;
  std::string message{};  // for a person; never holds a key
  int status = 0;       // HTTP; 0 = none came, or the error came inside a stream
  std::optional<std::chrono::milliseconds> retry_after{};  // when asking again makes sense
  std::string provider{};  // filled in by who knows it
  std::string model{};
  bool operator==(const Failure&) const = default;
};

struct Failed {
  Failure failure;
  bool operator==(const Failed&) const = default;
};

using Event = std::variant<Started, TextDelta, ThinkingDelta, ThinkingEnd, ToolCallStart, ToolCallArgs, ToolCallEnd, ToolCallBroken, Usage,
                           Stopped, Failed>;
using Sink = std::function<void(const Event&)>;

// After one of these a person has seen something, and no other model may start over.
bool IsContent(const Event& event);
std::string_view StopReasonName(StopReason reason);  // "end", "max_tokens", "tool_use", "refused"
std::string Describe(const Event& event);            // one line, for tests and debugging

}  // namespace beige::llm

#endif
