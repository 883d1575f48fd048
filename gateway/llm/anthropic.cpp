// Anthropic messages: POST /v1/messages, https://docs.anthropic.com/en/api/messages-streaming.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "gateway/llm/dialect.h"
#include "gateway/llm/failure.h"

namespace beige::llm {
namespace anthropic {
namespace {
using nlohmann::json;
using nlohmann::ordered_json;
constexpr size_t kBlock = 64;  // bytes that a block of an answer costs, about
constexpr int64_t kDefaultMaxTokens = 4096;
constexpr int64_t kSmallestBudget = 1024;  // the API's own

int64_t ThinkingBudget(ThinkingLevel level, int64_t max_tokens) {
  static constexpr int64_t kBudgets[] = {0, 1024, 2048, 8192, 16384};
  const int64_t budget = std::min(kBudgets[static_cast<size_t>(level)], max_tokens - kSmallestBudget);  // leaves room for the answer itself
  return budget < kSmallestBudget ? 0 : budget;
}

bool HasVisible(const std::string& text) { return text.find_first_not_of(" \t\r\n") != std::string::npos; }

ordered_json ImageBlock(const Image& image) {
  return {{"type", "image"}, {"source", {{"type", "base64"}, {"media_type", image.media_type}, {"data", Base64Encode(image.bytes)}}}};
}

void AddResult(ordered_json& blocks, const ToolResult& result) {
  ordered_json content = ordered_json::array();
  if (HasVisible(result.text)) content.push_back({{"type", "text"}, {"text", result.text}});
  for (const Image& image : result.images) content.push_back(ImageBlock(image));
  ordered_json block = {{"type", "tool_result"}, {"tool_use_id", result.call_id}, {"content", std::move(content)}};
  if (result.is_error) block["is_error"] = true;
  blocks.push_back(std::move(block));
}

void AddThinking(ordered_json& blocks, const Thinking& thinking) {
  if (thinking.signature.empty() || thinking.origin != LlmApi::kAnthropicMessages) return;
  if (thinking.redacted) {
    blocks.push_back({{"type", "redacted_thinking"}, {"data", thinking.signature}});
  } else {
    blocks.push_back({{"type", "thinking"}, {"thinking", thinking.text}, {"signature", thinking.signature}});
  }
}

// Results come first, and a text without a visible character is left out: others are refused.
ordered_json Blocks(const Message& message) {
  ordered_json blocks = ordered_json::array();
  for (const Part& part : message.parts) {
    if (const auto* result = std::get_if<ToolResult>(&part)) AddResult(blocks, *result);
  }
  for (const Part& part : message.parts) {
    if (const auto* text = std::get_if<Text>(&part)) {
      if (HasVisible(text->text)) blocks.push_back({{"type", "text"}, {"text", text->text}});
    } else if (const auto* thinking = std::get_if<Thinking>(&part)) {
      AddThinking(blocks, *thinking);
    } else if (const auto* image = std::get_if<Image>(&part)) {
      blocks.push_back(ImageBlock(*image));
    } else if (const auto* call = std::get_if<ToolCall>(&part)) {
      blocks.push_back({{"type", "tool_use"}, {"id", call->id}, {"name", call->name}, {"input", ObjectOf(call->arguments)}});
    }
  }
  return blocks;
}

void MarkCached(ordered_json& block) { block["cache_control"] = {{"type", "ephemeral"}}; }

std::string EncodeBlocks(const Message& message, ordered_json blocks) {
  if (blocks.empty()) return "";
  return Items(ordered_json::array({{{"role", message.role == Role::kUser ? "user" : "assistant"}, {"content", std::move(blocks)}}}));
}

std::string EncodeMessage(const Message& message) { return EncodeBlocks(message, Blocks(message)); }

std::string EncodeMarked(const Message& message) {
  ordered_json blocks = Blocks(message);
  if (!blocks.empty()) MarkCached(blocks.back());
  return EncodeBlocks(message, std::move(blocks));
}

// What stands before the last user message comes again in the next turn.
std::string Conversation(const Request& request) {
  constexpr LlmApi kApi = LlmApi::kAnthropicMessages;
  std::vector<MessageRef> messages = request.messages;
  while (!messages.empty() && messages.back().Encoded(kApi, EncodeMessage).empty()) messages.pop_back();
  if (!request.cache || messages.empty() || messages.back()->role != Role::kUser) return ItemsOf(kApi, messages, EncodeMessage);
  const MessageRef last = messages.back();
  messages.pop_back();
  std::string items = ItemsOf(kApi, messages, EncodeMessage);
  AddItems(items, EncodeMarked(last));
  return items;
}

class Anthropic : public Dialect {
 public:
  void OnEvent(std::string_view, const json& data, Answer& answer) override {
    const std::string type = Str(data, "type");
    if (type == "message_start") {
      const json& message = At(data, "message");
      answer.Start(Str(message, "id"), Str(message, "model"));
      TakeUsage(At(message, "usage"), answer);
    } else if (type == "content_block_start") {
      StartBlock(Int(data, "index"), At(data, "content_block"), answer);
    } else if (type == "content_block_delta") {
      Delta(Int(data, "index"), At(data, "delta"), answer);
    } else if (type == "content_block_stop") {
      if (const auto thought = thoughts_.find(Int(data, "index")); thought != thoughts_.end()) {
        answer.EndThought(std::move(thought->second));
        thoughts_.erase(thought);
      }
    } else if (type == "message_delta") {
      TakeUsage(At(data, "usage"), answer);
      if (const std::string reason = Str(At(data, "delta"), "stop_reason"); !reason.empty()) answer.SetStop(ReasonOf(reason), reason);
    } else if (type == "message_stop") {
      answer.Finish();
    } else if (type == "error") {
      answer.Fail(FailureOfError(At(data, "error")));
    }  // ping, and whatever a later version adds
  }

 private:
  static StopReason ReasonOf(const std::string& reason) {
    if (reason == "tool_use") return StopReason::kToolUse;
    if (reason == "max_tokens" || reason == "model_context_window_exceeded") return StopReason::kMaxTokens;
    return reason == "refusal" ? StopReason::kRefused : StopReason::kEnd;
  }

  // message_start and message_delta each tell some of it; a later figure is the whole, not a part.
  void TakeUsage(const json& usage, Answer& answer) {
    if (!usage.is_object()) return;
    const auto take = [&](const char* key, int64_t& into) {
      if (At(usage, key).is_number_integer()) into = Int(usage, key);
    };
    take("input_tokens", usage_.input);
    take("output_tokens", usage_.output);
    take("cache_read_input_tokens", usage_.cache_read);
    take("cache_creation_input_tokens", usage_.cache_write);
    answer.SetUsage(usage_);
  }

  void StartBlock(int64_t index, const json& block, Answer& answer) {
    const std::string type = Str(block, "type");
    if (type == "tool_use") {
      calls_[index] = answer.Call(Str(block, "id"), Str(block, "name"));
      // Arguments come as deltas; a server that knows them at once may put them here.
      if (const json& input = At(block, "input"); input.is_object() && !input.empty()) answer.CallArgs(calls_[index], input.dump(-1, ' ', false, json::error_handler_t::replace));
    } else if (type == "thinking") {
      std::string signature = Str(block, "signature");
      if (!answer.Grow(signature.size() + kBlock)) return;
      thoughts_[index] = std::move(signature);
      answer.Think(Str(block, "thinking"));
    } else if (type == "redacted_thinking") {
      answer.EndThought(Str(block, "data"), true);
    } else if (type == "text") {
      answer.Text(Str(block, "text"));
    }
  }

  void Delta(int64_t index, const json& delta, Answer& answer) {
    const std::string type = Str(delta, "type");
    if (type == "text_delta") {
      answer.Text(Str(delta, "text"));
    } else if (type == "thinking_delta") {
      answer.Think(Str(delta, "thinking"));
    } else if (type == "signature_delta") {
      const std::string more = Str(delta, "signature");
      if (const auto thought = thoughts_.find(index); thought != thoughts_.end() && answer.Grow(more.size())) thought->second += more;
    } else if (type == "input_json_delta") {
      if (const auto call = calls_.find(index); call != calls_.end()) answer.CallArgs(call->second, Str(delta, "partial_json"));
    }
  }

  Usage usage_;
  std::map<int64_t, int> calls_;             // block -> call
  std::map<int64_t, std::string> thoughts_;  // block -> signature so far
};
}  // namespace
}  // namespace anthropic

HttpRequest EncodeAnthropic(const Request& request) {
  using namespace anthropic;
  const int64_t max_tokens = request.max_tokens > 0 ? request.max_tokens : kDefaultMaxTokens;
  ordered_json body = {{"model", request.model}, {"max_tokens", max_tokens}, {"stream", true}};
  if (!request.system.empty()) {
    body["system"] = ordered_json::array({{{"type", "text"}, {"text", request.system}}});
    if (request.cache) MarkCached(body["system"][0]);
  }
  if (!request.tools.empty()) {
    ordered_json& tools = body["tools"] = ordered_json::array();
    for (const Tool& tool : request.tools) tools.push_back({{"name", tool.name}, {"description", tool.description}, {"input_schema", ObjectOf(tool.schema)}});
    if (request.cache) MarkCached(tools.back());
  }
  if (const int64_t budget = ThinkingBudget(request.thinking, max_tokens); budget > 0) body["thinking"] = {{"type", "enabled"}, {"budget_tokens", budget}};
  return {"/v1/messages", {{"anthropic-version", "2023-06-01"}}, DumpWith(body, "messages", Conversation(request))};
}

std::unique_ptr<Dialect> MakeAnthropic() { return std::make_unique<anthropic::Anthropic>(); }

}  // namespace beige::llm
