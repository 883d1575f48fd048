// Google generateContent: POST /models/ID:streamGenerateContent?alt=sse, https://ai.google.dev/api/generate-content.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "gateway/llm/dialect.h"
#include "gateway/llm/failure.h"

namespace beige::llm {
namespace google {
namespace {
using nlohmann::json;
using nlohmann::ordered_json;

ordered_json ImagePart(const Image& image) { return {{"inlineData", {{"mimeType", image.media_type}, {"data", Base64Encode(image.bytes)}}}}; }

ordered_json Signed(ordered_json part, const std::string& signature, std::optional<LlmApi> origin) {
  if (!signature.empty() && origin == LlmApi::kGoogleGenerativeAi) part["thoughtSignature"] = signature;
  return part;
}

ordered_json Parts(const Message& message) {
  ordered_json parts = ordered_json::array();
  ordered_json images = ordered_json::array();  // of results; they stand behind all responses and texts
  for (const Part& part : message.parts) {
    if (const auto* result = std::get_if<ToolResult>(&part)) {
      parts.push_back({{"functionResponse", {{"name", result->name}, {"response", {{result->is_error ? "error" : "output", result->text}}}}}});
      for (const Image& shown : result->images) images.push_back(ImagePart(shown));
    }
  }
  for (const Part& part : message.parts) {
    if (const auto* text = std::get_if<Text>(&part)) {
      if (!text->text.empty()) parts.push_back({{"text", text->text}});
    } else if (const auto* thinking = std::get_if<Thinking>(&part)) {
      // The thought itself is a summary for people; what the model wants back is the signature.
      if (!thinking->signature.empty() && thinking->origin == LlmApi::kGoogleGenerativeAi) parts.push_back(Signed({{"text", ""}}, thinking->signature, thinking->origin));
    } else if (const auto* image = std::get_if<Image>(&part)) {
      parts.push_back(ImagePart(*image));
    } else if (const auto* call = std::get_if<ToolCall>(&part)) {
      ordered_json function = {{"name", call->name}, {"args", ObjectOf(call->arguments)}};
      parts.push_back(Signed({{"functionCall", std::move(function)}}, call->signature, call->origin));
    }
  }
  for (ordered_json& image : images) parts.push_back(std::move(image));
  return parts;
}

std::string EncodeMessage(const Message& message) {
  ordered_json parts = Parts(message);
  if (parts.empty()) return "";
  return Items(ordered_json::array({{{"role", message.role == Role::kUser ? "user" : "model"}, {"parts", std::move(parts)}}}));
}

int64_t ThinkingBudget(ThinkingLevel level) {
  static constexpr int64_t kBudgets[] = {0, 512, 2048, 8192, 24576};
  return kBudgets[static_cast<size_t>(level)];
}

// A path segment: ids such as "tuned/x:1" must not become path or query.
std::string Escape(const std::string& text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

class Google : public Dialect {
 public:
  void OnEvent(std::string_view, const json& data, Answer& answer) override {
    if (const json& error = At(data, "error"); error.is_object()) return answer.Fail(FailureOfError(error));
    if (const std::string id = Str(data, "responseId"); !id.empty()) id_ = id;
    answer.Start(id_, Str(data, "modelVersion"));
    if (const json& usage = At(data, "usageMetadata"); usage.is_object()) TakeUsage(usage, answer);
    if (const std::string reason = Str(At(data, "promptFeedback"), "blockReason"); !reason.empty()) {
      return answer.Fail({ErrorClass::kBadRequest, "the provider blocked the prompt: " + reason});
    }
    const json& candidates = At(data, "candidates");
    if (!candidates.is_array() || candidates.empty()) return;
    const json& candidate = candidates.front();
    if (const json& parts = At(At(candidate, "content"), "parts"); parts.is_array()) {
      for (const json& part : parts) OnPart(part, answer);
    }
    if (const std::string reason = Str(candidate, "finishReason"); !reason.empty()) Stop(reason, Str(candidate, "finishMessage"), answer);
  }

 private:
  void OnPart(const json& part, Answer& answer) {
    const std::string signature = Str(part, "thoughtSignature");
    if (const json& call = At(part, "functionCall"); call.is_object()) {
      // A call comes whole, and often without an id.
      std::string id = Str(call, "id");
      if (id.empty()) id = (id_.empty() ? "call" : id_) + "_" + std::to_string(answer.calls());
      const int index = answer.Call(id, Str(call, "name"));
      const json& args = At(call, "args");
      answer.CallArgs(index, args.is_object() ? args.dump(-1, ' ', false, json::error_handler_t::replace) : "{}");
      answer.CallSignature(index, signature);
      return;
    }
    if (At(part, "thought").is_boolean() && part["thought"].get<bool>()) {
      answer.Think(Str(part, "text"));
    } else {
      answer.Text(Str(part, "text"));
    }
    if (!signature.empty()) answer.EndThought(signature);
  }

  static void Stop(const std::string& reason, const std::string& message, Answer& answer) {
    if (reason == "STOP") return answer.SetStop(StopReason::kEnd, reason);
    if (reason == "MAX_TOKENS") return answer.SetStop(StopReason::kMaxTokens, reason);
    if (reason == "MALFORMED_FUNCTION_CALL" || reason == "UNEXPECTED_TOOL_CALL") {
      return answer.Fail({ErrorClass::kProtocol, "the model wrote a tool call that its provider could not read (" + reason + ")" + (message.empty() ? "" : ": " + message.substr(0, 200))});
    }
    answer.SetStop(StopReason::kRefused, reason);  // SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, OTHER, ...
  }

  // Each event tells the sums so far. Thoughts are not part of the candidates' tokens; cached ones are part of the prompt's.
  void TakeUsage(const json& usage, Answer& answer) {
    Usage out;
    out.cache_read = Int(usage, "cachedContentTokenCount");
    out.input = std::max<int64_t>(0, Int(usage, "promptTokenCount") + Int(usage, "toolUsePromptTokenCount") - out.cache_read);
    out.thinking = Int(usage, "thoughtsTokenCount");
    out.output = Int(usage, "candidatesTokenCount") + out.thinking;
    answer.SetUsage(out);
  }

  std::string id_;
};
}  // namespace
}  // namespace google

HttpRequest EncodeGoogle(const Request& request) {
  using namespace google;
  ordered_json body = ordered_json::object();
  if (!request.system.empty()) body["systemInstruction"] = {{"parts", ordered_json::array({{{"text", request.system}}})}};
  if (!request.tools.empty()) {
    ordered_json functions = ordered_json::array();
    for (const Tool& tool : request.tools) {
      functions.push_back({{"name", tool.name}, {"description", tool.description}, {"parametersJsonSchema", ObjectOf(tool.schema)}});
    }
    body["tools"] = ordered_json::array({{{"functionDeclarations", std::move(functions)}}});
  }
  ordered_json config = ordered_json::object();
  if (request.max_tokens > 0) config["maxOutputTokens"] = request.max_tokens;
  if (request.thinking != ThinkingLevel::kOff) config["thinkingConfig"] = {{"includeThoughts", true}, {"thinkingBudget", ThinkingBudget(request.thinking)}};
  if (!config.empty()) body["generationConfig"] = std::move(config);
  return {"/models/" + Escape(request.model) + ":streamGenerateContent?alt=sse", {}, DumpWith(body, "contents", ItemsOf(LlmApi::kGoogleGenerativeAi, request.messages, EncodeMessage))};
}

std::unique_ptr<Dialect> MakeGoogle() { return std::make_unique<google::Google>(); }

}  // namespace beige::llm
