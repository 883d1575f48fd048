#include "gateway/llm/model.h"

#include <algorithm>
#include <iterator>

#include "api/agent_names.h"

namespace beige::llm {
Result<ModelName> ParseModelName(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) {
    return Fail(Code::kInvalid, "want PROVIDER/MODEL such as anthropic/claude-sonnet-4-6, got \"" + std::string(text.substr(0, 80)) + "\"");
  }
  return ModelName{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

namespace {
bool ShowsImages(const Message& message) {
  return std::any_of(message.parts.begin(), message.parts.end(), [](const Part& part) {
    const auto* result = std::get_if<ToolResult>(&part);
    return std::holds_alternative<Image>(part) || (result != nullptr && !result->images.empty());
  });
}
}  // namespace

MessageRef::MessageRef(Message message) {
  const bool images = ShowsImages(message);
  held_ = std::make_shared<Held>(Held{std::move(message), images, {}});
}

const std::string& MessageRef::Encoded(LlmApi api, std::string (*encode)(const Message&)) const {
  std::optional<std::string>& kept = held_->encoded[static_cast<size_t>(api)];
  if (!kept) kept = encode(held_->message);
  return *kept;
}

bool IsToolName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxToolName &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == std::string_view::npos;
}

std::optional<ThinkingLevel> ParseThinkingLevel(std::string_view word) {
  for (size_t i = 0; i < std::size(kThinkingLevels); ++i) {
    if (kThinkingLevels[i] == word) return static_cast<ThinkingLevel>(i);
  }
  return std::nullopt;
}

std::string_view ThinkingLevelName(ThinkingLevel level) { return kThinkingLevels[static_cast<size_t>(level)]; }

Message WithoutImages(Message message, std::string_view why) {
  const auto words = [&](const Image& image) { return "[a picture, " + image.media_type + ", " + std::string(why) + "]"; };
  for (Part& part : message.parts) {
    if (const auto* image = std::get_if<Image>(&part)) {
      part = Text{words(*image)};
    } else if (auto* result = std::get_if<ToolResult>(&part)) {
      for (const Image& shown : result->images) result->text += (result->text.empty() ? "" : "\n") + words(shown);
      result->images.clear();
    }
  }
  return message;
}

bool HasImages(const Request& request) {
  return std::any_of(request.messages.begin(), request.messages.end(), [](const MessageRef& message) { return message.has_images(); });
}

Request WithoutImages(Request request) {
  for (MessageRef& message : request.messages) {
    if (message.has_images()) message = MessageRef(WithoutImages(*message, "which this model can't see"));
  }
  return request;
}

}  // namespace beige::llm
