// OpenAI chat completions, and the many servers that are compatible with it: POST /chat/completions,
// https://platform.openai.com/docs/api-reference/chat-streaming.
#include <map>
#include <nlohmann/json.hpp>

#include "gateway/llm/dialect.h"
#include "gateway/llm/failure.h"

namespace beige::llm {
namespace openai_chat {
namespace {
using nlohmann::json;
using nlohmann::ordered_json;

ordered_json ImagePart(const Image& image) { return {{"type", "image_url"}, {"image_url", {{"url", DataUrl(image)}}}}; }

void AddAssistant(ordered_json& messages, const Message& message) {
  std::string text;
  ordered_json calls = ordered_json::array();
  for (const Part& part : message.parts) {
    if (const auto* t = std::get_if<Text>(&part)) text += t->text;
    if (const auto* call = std::get_if<ToolCall>(&part)) {
      calls.push_back({{"id", call->id}, {"type", "function"}, {"function", {{"name", call->name}, {"arguments", call->arguments}}}});
    }
  }
  ordered_json out = {{"role", "assistant"}, {"content", text.empty() ? ordered_json() : ordered_json(text)}};
  if (text.empty() && calls.empty()) return;
  if (!calls.empty()) out["tool_calls"] = std::move(calls);
  messages.push_back(std::move(out));
}

// Results are messages of their own and come first; a result holds only text, so its images follow as the user's.
void AddUser(ordered_json& messages, const Message& message) {
  ordered_json parts = ordered_json::array();
  bool only_text = true;
  std::string text;
  for (const Part& part : message.parts) {
    if (const auto* result = std::get_if<ToolResult>(&part)) {
      messages.push_back({{"role", "tool"}, {"tool_call_id", result->call_id}, {"content", result->text}});
      for (const Image& image : result->images) {
        parts.push_back({{"type", "text"}, {"text", "Image from " + result->name + ":"}});
        parts.push_back(ImagePart(image));
        only_text = false;
      }
    }
  }
  for (const Part& part : message.parts) {
    if (const auto* t = std::get_if<Text>(&part); t != nullptr && !t->text.empty()) {
      text += t->text;
      parts.push_back({{"type", "text"}, {"text", t->text}});
    } else if (const auto* image = std::get_if<Image>(&part)) {
      parts.push_back(ImagePart(*image));
      only_text = false;
    }
  }
  if (parts.empty()) return;
  if (only_text && parts.size() == 1) {
    messages.push_back({{"role", "user"}, {"content", text}});
  } else {
    messages.push_back({{"role", "user"}, {"content", std::move(parts)}});
  }
}

std::string EncodeMessage(const Message& message) {
  ordered_json messages = ordered_json::array();
  message.role == Role::kUser ? AddUser(messages, message) : AddAssistant(messages, message);
  return Items(messages);
}

class OpenAiChat : public Dialect {
 public:
  void OnEvent(std::string_view, const json& data, Answer& answer) override {
    if (const json& error = At(data, "error"); error.is_object()) return answer.Fail(FailureOfError(error));
    if (At(data, "error").is_string()) return answer.Fail(FailureOfError({{"message", data["error"]}}));
    answer.Start(Str(data, "id"), Str(data, "model"));
    if (const json& usage = At(data, "usage"); usage.is_object()) TakeUsage(usage, answer);
    const json& choices = At(data, "choices");
    if (!choices.is_array()) return;
    for (const json& choice : choices) {
      if (Int(choice, "index") == 0) Choice(choice, answer);
    }
  }

 private:
  void Choice(const json& choice, Answer& answer) {
    const json& delta = At(choice, "delta");
    // Two names for the same, and a server may send both: vLLM, DeepSeek, llama.cpp; OpenRouter.
    const std::string thought = Str(delta, "reasoning_content");
    answer.Think(thought.empty() ? Str(delta, "reasoning") : thought);
    answer.Text(Str(delta, "content"));
    if (const std::string refusal = Str(delta, "refusal"); !refusal.empty()) {
      refused_ = true;
      answer.Text(refusal);
    }
    if (const json& calls = At(delta, "tool_calls"); calls.is_array()) {
      for (const json& call : calls) Call(call, answer);
    }
    const std::string reason = Str(choice, "finish_reason");
    if (reason == "error") return answer.Fail({ErrorClass::kOverloaded, "the provider ended the answer with finish_reason error"});
    if (!reason.empty()) answer.SetStop(refused_ ? StopReason::kRefused : ReasonOf(reason), reason);
  }

  static StopReason ReasonOf(const std::string& reason) {
    if (reason == "tool_calls" || reason == "function_call") return StopReason::kToolUse;
    if (reason == "length") return StopReason::kMaxTokens;
    return reason == "content_filter" ? StopReason::kRefused : StopReason::kEnd;
  }

  // A new id at an index that is taken is another call: some servers give every call of an answer the index 0.
  void Call(const json& call, Answer& answer) {
    const int64_t index = Int(call, "index");
    const std::string id = Str(call, "id");
    const json& function = At(call, "function");
    const auto known = calls_.find(index);
    const bool other = known != calls_.end() && !id.empty() && id != known->second.id;
    if (known == calls_.end() || other) calls_[index] = {id, answer.Call(id, Str(function, "name"))};
    const json& arguments = At(function, "arguments");
    // Ollama's native form is an object, and it has slipped through.
    answer.CallArgs(calls_[index].call, arguments.is_object() ? arguments.dump(-1, ' ', false, json::error_handler_t::replace) : Str(function, "arguments"));
  }

  void TakeUsage(const json& usage, Answer& answer) {
    Usage out;
    const json& prompt = At(usage, "prompt_tokens_details");
    out.cache_read = prompt.is_object() ? Int(prompt, "cached_tokens") : Int(usage, "prompt_cache_hit_tokens");  // DeepSeek
    out.input = std::max<int64_t>(0, Int(usage, "prompt_tokens") - out.cache_read);
    out.output = Int(usage, "completion_tokens");
    out.thinking = Int(At(usage, "completion_tokens_details"), "reasoning_tokens");
    answer.SetUsage(out);
  }

  struct Known {
    std::string id;
    int call = 0;
  };
  std::map<int64_t, Known> calls_;
  bool refused_ = false;
};
}  // namespace
}  // namespace openai_chat

HttpRequest EncodeOpenAiChat(const Request& request, const EncodeOptions& options) {
  using namespace openai_chat;
  std::string messages;
  if (!request.system.empty()) messages = Items(ordered_json::array({{{"role", "system"}, {"content", request.system}}}));
  AddItems(messages, ItemsOf(LlmApi::kOpenAiCompletions, request.messages, EncodeMessage));
  ordered_json body = {{"model", request.model}, {"stream", true}, {"stream_options", {{"include_usage", true}}}};
  if (request.max_tokens > 0) body[options.openai_itself ? "max_completion_tokens" : "max_tokens"] = request.max_tokens;
  if (request.thinking != ThinkingLevel::kOff) body["reasoning_effort"] = ThinkingLevelName(request.thinking);
  if (options.openai_itself && !request.cache_key.empty()) body["prompt_cache_key"] = request.cache_key;
  if (!request.tools.empty()) {
    ordered_json& tools = body["tools"] = ordered_json::array();
    for (const Tool& tool : request.tools) {
      tools.push_back({{"type", "function"}, {"function", {{"name", tool.name}, {"description", tool.description}, {"parameters", ObjectOf(tool.schema)}}}});
    }
  }
  return {"/chat/completions", {}, DumpWith(body, "messages", messages)};
}

std::unique_ptr<Dialect> MakeOpenAiChat() { return std::make_unique<openai_chat::OpenAiChat>(); }

}  // namespace beige::llm
