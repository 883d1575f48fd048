#ifndef BEIGE_GATEWAY_LLM_MODEL_H_
#define BEIGE_GATEWAY_LLM_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/llm_config.h"
#include "base/result.h"

// What is asked of a model, in no provider's words. The four codecs (codec.h) turn it into a provider's request.
namespace beige::llm {

// "anthropic/claude-sonnet-4-6": the provider's name in gateway.yaml, and the model's id, which may itself hold '/' and ':'.
struct ModelName {
  std::string provider;
  std::string model;
  auto operator<=>(const ModelName&) const = default;
  std::string ToString() const { return provider + "/" + model; }
};
Result<ModelName> ParseModelName(std::string_view text);  // splits at the first '/'; Invalid when a half is empty

struct Text {
  std::string text;
  bool operator==(const Text&) const = default;
};

// A model's thoughts. `signature` is what its provider wants to see again unchanged, and means nothing to another: it is sent only in
// the dialect that it came from, and a thought without one is not sent at all.
struct Thinking {
  std::string text;
  std::string signature;
  bool redacted = false;  // Anthropic: the text is kept from us, `signature` is its data
  std::optional<LlmApi> origin;
  bool operator==(const Thinking&) const = default;
};

struct Image {
  std::string media_type;  // image/png, image/jpeg, image/gif, image/webp
  std::string bytes;       // not base64
  bool operator==(const Image&) const = default;
};

struct ToolCall {
  std::string id;         // unique within one answer
  std::string name;
  std::string arguments;  // a JSON object
  std::string signature;  // Google's thoughtSignature; as in Thinking
  std::optional<LlmApi> origin;
  bool operator==(const ToolCall&) const = default;
};

struct ToolResult {
  std::string call_id;
  std::string name;  // of the tool
  std::string text;
  std::vector<Image> images;
  bool is_error = false;
  bool operator==(const ToolResult&) const = default;
};

using Part = std::variant<Text, Thinking, Image, ToolCall, ToolResult>;

// A user's message holds texts, images and tool results; an assistant's texts, thoughts and tool calls. A call and its result stand in
// neighbouring messages; codecs don't mend a conversation where one is missing.
enum class Role { kUser, kAssistant };
struct Message {
  Role role = Role::kUser;
  std::vector<Part> parts;
  bool operator==(const Message&) const = default;
};

// A message of a conversation: requests share it, and what a codec made of it is kept with it, so that a long conversation is not encoded
// anew at each turn. Core thread only.
class MessageRef {
 public:
  MessageRef(Message message);  // NOLINT: a message is one
  MessageRef(Role role, std::vector<Part> parts) : MessageRef(Message{role, std::move(parts)}) {}

  operator const Message&() const { return held_->message; }  // NOLINT
  const Message* operator->() const { return &held_->message; }
  const Message& operator*() const { return held_->message; }
  bool has_images() const { return held_->has_images; }  // its own or a result's
  // What `encode` makes of it in that dialect; asked once.
  const std::string& Encoded(LlmApi api, std::string (*encode)(const Message&)) const;
  bool operator==(const MessageRef& other) const { return held_->message == other.held_->message; }

 private:
  struct Held {
    Message message;
    bool has_images;
    std::optional<std::string> encoded[kLlmApis];
  };
  std::shared_ptr<Held> held_;
};

// What every provider takes for a tool's name: 1 to 64 letters, digits, - and _. A conversation with another one in it is refused from then on.
inline constexpr size_t kMaxToolName = 64;
bool IsToolName(std::string_view name);

struct Tool {
  std::string name;
  std::string description;
  std::string schema;  // JSON schema of the arguments, an object
  bool operator==(const Tool&) const = default;
};

enum class ThinkingLevel { kOff, kMinimal, kLow, kMedium, kHigh };
std::optional<ThinkingLevel> ParseThinkingLevel(std::string_view word);  // off, minimal, low, medium, high
std::string_view ThinkingLevelName(ThinkingLevel level);

struct Request {
  std::string model;   // the provider's id
  std::string system;  // "" = none
  std::vector<MessageRef> messages;
  std::vector<Tool> tools;
  int64_t max_tokens = 0;  // of the answer, thoughts included; 0 = the provider's own limit (Anthropic: 4096, which it wants to be told)
  ThinkingLevel thinking = ThinkingLevel::kOff;
  // Prompt caching. `cache` marks what comes again in the next turn (Anthropic; the others do so by themselves); `cache_key` brings
  // requests of one conversation to one cache (OpenAI).
  bool cache = true;
  std::string cache_key;
};

// A line of text, "[a picture, image/png, WHY]", in the place of each picture.
Message WithoutImages(Message message, std::string_view why);
// The same request for a model that takes only text.
bool HasImages(const Request& request);
Request WithoutImages(Request request);

}  // namespace beige::llm

#endif
