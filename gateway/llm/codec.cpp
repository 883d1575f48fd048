#include "gateway/llm/codec.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/random.h"
#include "gateway/llm/dialect.h"

namespace beige::llm {
namespace {
constexpr int kMaxEventDepth = 128;

std::unique_ptr<Dialect> MakeDialect(LlmApi api) {
  switch (api) {
    case LlmApi::kAnthropicMessages: return MakeAnthropic();
    case LlmApi::kOpenAiCompletions: return MakeOpenAiChat();
    case LlmApi::kOpenAiResponses: return MakeOpenAiResponses();
    case LlmApi::kGoogleGenerativeAi: return MakeGoogle();
  }
  return MakeOpenAiChat();
}
}  // namespace

HttpRequest Encode(LlmApi api, const Request& request, const EncodeOptions& options) {
  HttpRequest out;
  switch (api) {
    case LlmApi::kAnthropicMessages: out = EncodeAnthropic(request); break;
    case LlmApi::kOpenAiCompletions: out = EncodeOpenAiChat(request, options); break;
    case LlmApi::kOpenAiResponses: out = EncodeOpenAiResponses(request, options); break;
    case LlmApi::kGoogleGenerativeAi: out = EncodeGoogle(request); break;
  }
  out.headers.emplace_back("accept", "text/event-stream");
  return out;
}

std::pair<std::string, std::string> AuthHeader(LlmApi api) {
  switch (api) {
    case LlmApi::kAnthropicMessages: return {"x-api-key", ""};
    case LlmApi::kGoogleGenerativeAi: return {"x-goog-api-key", ""};
    default: return {"authorization", "Bearer "};
  }
}

Decoder::Decoder(LlmApi api, Sink sink) : answer_(api, std::move(sink)), dialect_(MakeDialect(api)) {}
Decoder::~Decoder() = default;

void Decoder::Feed(std::string_view bytes) {
  if (ended()) return;
  const bool fits = sse_.Feed(bytes, [this](std::string_view name, std::string_view data) { OnEvent(name, data); });
  if (!fits) answer_.Fail({ErrorClass::kProtocol, "one event of the stream is larger than 8 MiB"});
}

void Decoder::End() {
  if (ended()) return;
  sse_.End([this](std::string_view name, std::string_view data) { OnEvent(name, data); });
  answer_.Finish();
}

void Decoder::Break(Failure failure) {
  if (answer_.has_stop()) {
    answer_.Finish();
  } else {
    answer_.Fail(std::move(failure));
  }
}

void Decoder::OnEvent(std::string_view name, std::string_view data) {
  if (ended()) return;
  if (data == "[DONE]") return answer_.Finish();
  if (JsonDeeperThan(data, kMaxEventDepth)) return answer_.Fail({ErrorClass::kProtocol, "an event of the stream is nested deeper than " + std::to_string(kMaxEventDepth)});
  const nlohmann::json value = nlohmann::json::parse(data, nullptr, false);
  if (!value.is_object()) return answer_.Fail({ErrorClass::kProtocol, "an event of the stream is not a JSON object"});
  dialect_->OnEvent(name, value, answer_);
}

const nlohmann::json& At(const nlohmann::json& object, const char* key) {
  static const nlohmann::json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string Str(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = At(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

int64_t Int(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = At(object, key);
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return INT64_MAX;
  return value.is_number_integer() ? value.get<int64_t>() : 0;
}

std::string Dump(const nlohmann::ordered_json& value) { return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace); }

std::string Items(const nlohmann::ordered_json& array) {
  const std::string whole = Dump(array);
  return whole.substr(1, whole.size() - 2);
}

void AddItems(std::string& items, std::string_view more) {
  if (!items.empty() && !more.empty()) items += ',';
  items += more;
}

std::string ItemsOf(LlmApi api, const std::vector<MessageRef>& messages, std::string (*encode)(const Message&)) {
  size_t bytes = 0;
  for (const MessageRef& message : messages) bytes += message.Encoded(api, encode).size() + 1;
  std::string items;
  items.reserve(bytes);
  for (const MessageRef& message : messages) AddItems(items, message.Encoded(api, encode));
  return items;
}

std::string DumpWith(const nlohmann::ordered_json& body, std::string_view key, std::string_view items) {
  std::string out = Dump(body);
  out.pop_back();
  out.reserve(out.size() + key.size() + items.size() + 8);
  if (!body.empty()) out += ',';
  out.append("\"").append(key).append("\":[").append(items).append("]}");
  return out;
}

nlohmann::ordered_json ObjectOf(const std::string& text) {
  if (JsonDeeperThan(text, kMaxEventDepth)) return nlohmann::ordered_json::object();
  nlohmann::ordered_json value = nlohmann::ordered_json::parse(text, nullptr, false);
  return value.is_object() ? value : nlohmann::ordered_json::object();
}

std::string DataUrl(const Image& image) { return "data:" + image.media_type + ";base64," + Base64Encode(image.bytes); }

}  // namespace beige::llm
