// OpenAI responses: POST /responses, https://platform.openai.com/docs/api-reference/responses-streaming. Nothing is stored at the
// provider: the conversation is sent whole, and thoughts travel encrypted.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "gateway/llm/dialect.h"
#include "gateway/llm/failure.h"

namespace beige::llm {
namespace openai_responses {
namespace {
using nlohmann::json;
using nlohmann::ordered_json;

ordered_json ImagePart(const Image& image) { return {{"type", "input_image"}, {"detail", "auto"}, {"image_url", DataUrl(image)}}; }

ordered_json ResultItem(const ToolResult& result) {
  ordered_json item = {{"type", "function_call_output"}, {"call_id", result.call_id}};
  if (result.images.empty()) {
    item["output"] = result.text;
    return item;
  }
  ordered_json& output = item["output"] = ordered_json::array();
  if (!result.text.empty()) output.push_back({{"type", "input_text"}, {"text", result.text}});
  for (const Image& image : result.images) output.push_back(ImagePart(image));
  return item;
}

void AddUser(ordered_json& input, const Message& message) {
  ordered_json content = ordered_json::array();
  for (const Part& part : message.parts) {
    if (const auto* result = std::get_if<ToolResult>(&part)) input.push_back(ResultItem(*result));
    if (const auto* text = std::get_if<Text>(&part); text != nullptr && !text->text.empty()) content.push_back({{"type", "input_text"}, {"text", text->text}});
    if (const auto* image = std::get_if<Image>(&part)) content.push_back(ImagePart(*image));
  }
  if (!content.empty()) input.push_back({{"role", "user"}, {"content", std::move(content)}});
}

void AddAssistant(ordered_json& input, const Message& message) {
  for (const Part& part : message.parts) {
    if (const auto* text = std::get_if<Text>(&part); text != nullptr && !text->text.empty()) {
      input.push_back({{"role", "assistant"}, {"content", ordered_json::array({{{"type", "output_text"}, {"text", text->text}}})}});
    } else if (const auto* call = std::get_if<ToolCall>(&part)) {
      input.push_back({{"type", "function_call"}, {"call_id", call->id}, {"name", call->name}, {"arguments", call->arguments}});
    } else if (const auto* thinking = std::get_if<Thinking>(&part)) {
      // The signature is the whole item, as it came.
      if (thinking->origin != LlmApi::kOpenAiResponses) continue;
      if (ordered_json item = ObjectOf(thinking->signature); !item.empty()) input.push_back(std::move(item));
    }
  }
}

std::string EncodeMessage(const Message& message) {
  ordered_json input = ordered_json::array();
  message.role == Role::kUser ? AddUser(input, message) : AddAssistant(input, message);
  return Items(input);
}

class OpenAiResponses : public Dialect {
 public:
  void OnEvent(std::string_view name, const json& data, Answer& answer) override {
    std::string type = Str(data, "type");
    if (type.empty()) type = name;
    const int64_t index = Int(data, "output_index");
    if (type == "response.created") {
      answer.Start(Str(At(data, "response"), "id"), Str(At(data, "response"), "model"));
    } else if (type == "response.output_item.added") {
      const json& item = At(data, "item");
      if (Str(item, "type") == "function_call") StartCall(index, item, answer);
    } else if (type == "response.output_text.delta") {
      answer.Text(Str(data, "delta"));
    } else if (type == "response.refusal.delta") {
      refused_ = true;
      answer.Text(Str(data, "delta"));
    } else if (type == "response.reasoning_summary_text.delta" || type == "response.reasoning_text.delta") {
      answer.Think(Str(data, "delta"));
    } else if (type == "response.reasoning_summary_part.added") {
      if (Int(data, "summary_index") > 0) answer.Think("\n\n");
    } else if (type == "response.function_call_arguments.delta") {
      if (const auto call = calls_.find(index); call != calls_.end()) answer.CallArgs(call->second, Str(data, "delta"));
    } else if (type == "response.output_item.done") {
      ItemDone(index, At(data, "item"), answer);
    } else if (type == "response.completed" || type == "response.incomplete" || type == "response.failed") {
      End(type, At(data, "response"), answer);
    } else if (type == "error") {
      answer.Fail(FailureOfError(At(data, "error").is_object() ? At(data, "error") : data));
    }
  }

 private:
  void StartCall(int64_t index, const json& item, Answer& answer) { calls_[index] = answer.Call(Str(item, "call_id"), Str(item, "name")); }

  void ItemDone(int64_t index, const json& item, Answer& answer) {
    const std::string type = Str(item, "type");
    if (type == "reasoning") {
      // Without its encrypted content it could not be given back: the provider has stored nothing.
      const bool usable = !Str(item, "encrypted_content").empty();
      answer.EndThought(usable ? item.dump(-1, ' ', false, json::error_handler_t::replace) : std::string());
    } else if (type == "function_call") {
      if (!calls_.contains(index)) StartCall(index, item, answer);
      answer.CallArgsWhole(calls_[index], Str(item, "arguments"));
    }
  }

  void End(const std::string& type, const json& response, Answer& answer) {
    answer.Start(Str(response, "id"), Str(response, "model"));
    if (const json& usage = At(response, "usage"); usage.is_object()) TakeUsage(usage, answer);
    if (type == "response.failed") return answer.Fail(FailureOfError(At(response, "error")));
    if (type == "response.incomplete") {
      const std::string reason = Str(At(response, "incomplete_details"), "reason");
      answer.SetStop(reason == "content_filter" ? StopReason::kRefused : StopReason::kMaxTokens, reason);
    } else {
      answer.SetStop(refused_ ? StopReason::kRefused : StopReason::kEnd, "completed");
    }
    answer.Finish();
  }

  void TakeUsage(const json& usage, Answer& answer) {
    Usage out;
    out.cache_read = Int(At(usage, "input_tokens_details"), "cached_tokens");
    out.input = std::max<int64_t>(0, Int(usage, "input_tokens") - out.cache_read);
    out.output = Int(usage, "output_tokens");
    out.thinking = Int(At(usage, "output_tokens_details"), "reasoning_tokens");
    answer.SetUsage(out);
  }

  std::map<int64_t, int> calls_;  // output item -> call
  bool refused_ = false;
};
}  // namespace
}  // namespace openai_responses

HttpRequest EncodeOpenAiResponses(const Request& request, const EncodeOptions& options) {
  using namespace openai_responses;
  ordered_json body = {{"model", request.model}, {"stream", true}, {"store", false}};
  if (!request.system.empty()) body["instructions"] = request.system;
  if (request.max_tokens > 0) body["max_output_tokens"] = request.max_tokens;
  if (request.thinking != ThinkingLevel::kOff) {
    body["reasoning"] = {{"effort", ThinkingLevelName(request.thinking)}, {"summary", "auto"}};
    body["include"] = {"reasoning.encrypted_content"};
  }
  if (options.openai_itself && !request.cache_key.empty()) body["prompt_cache_key"] = request.cache_key;
  if (!request.tools.empty()) {
    ordered_json& tools = body["tools"] = ordered_json::array();
    for (const Tool& tool : request.tools) {
      tools.push_back({{"type", "function"}, {"name", tool.name}, {"description", tool.description}, {"parameters", ObjectOf(tool.schema)}, {"strict", false}});
    }
  }
  return {"/responses", {}, DumpWith(body, "input", ItemsOf(LlmApi::kOpenAiResponses, request.messages, EncodeMessage))};
}

std::unique_ptr<Dialect> MakeOpenAiResponses() { return std::make_unique<openai_responses::OpenAiResponses>(); }

}  // namespace beige::llm
