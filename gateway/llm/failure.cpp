#include "gateway/llm/failure.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "api/utf8.h"
#include "gateway/llm/dialect.h"

namespace beige::llm {
namespace {
using nlohmann::json;
constexpr size_t kMaxMessage = 600;
constexpr size_t kMaxRaw = 64u << 10;

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

// One line, whatever the provider wrote. Not cut here: half of a key could not be told from other words any more (see Presentable).
std::string Tidy(std::string_view text) {
  std::string out(text.substr(0, kMaxRaw));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return out;
}

struct Word {
  std::string_view word;
  ErrorClass kind;
};
// `type`, `code` and `status` of the four dialects and of llama.cpp.
constexpr std::array<Word, 26> kWords = {{
    {"rate_limit_error", ErrorClass::kRateLimit},
    {"rate_limit_exceeded", ErrorClass::kRateLimit},
    {"resource_exhausted", ErrorClass::kRateLimit},
    {"overloaded_error", ErrorClass::kOverloaded},
    {"api_error", ErrorClass::kOverloaded},
    {"timeout_error", ErrorClass::kOverloaded},
    {"server_error", ErrorClass::kOverloaded},
    {"server_overloaded", ErrorClass::kOverloaded},
    {"internal", ErrorClass::kOverloaded},
    {"unavailable", ErrorClass::kOverloaded},
    {"unavailable_error", ErrorClass::kOverloaded},
    {"deadline_exceeded", ErrorClass::kOverloaded},
    {"authentication_error", ErrorClass::kAuth},
    {"permission_error", ErrorClass::kAuth},
    {"billing_error", ErrorClass::kAuth},
    {"invalid_api_key", ErrorClass::kAuth},
    {"insufficient_quota", ErrorClass::kAuth},
    {"unauthenticated", ErrorClass::kAuth},
    {"permission_denied", ErrorClass::kAuth},
    {"context_length_exceeded", ErrorClass::kContextLength},
    {"exceed_context_size_error", ErrorClass::kContextLength},
    {"request_too_large", ErrorClass::kContextLength},
    {"string_above_max_length", ErrorClass::kContextLength},
    {"not_found_error", ErrorClass::kBadRequest},
    {"model_not_found", ErrorClass::kBadRequest},
    {"not_found", ErrorClass::kBadRequest},
}};

// Providers say it in prose, under a status that means any bad request.
bool SpeaksOfContextLength(const std::string& lower) {
  static constexpr std::array<std::string_view, 8> kPhrases = {"prompt is too long",  "maximum context length", "context length exceeded",
                                                               "context window",      "exceeds the maximum number of tokens", "input token count",
                                                               "exceed context limit", "exceeds the available context size"};
  return std::any_of(kPhrases.begin(), kPhrases.end(), [&](std::string_view phrase) { return lower.find(phrase) != std::string::npos; });
}

std::optional<ErrorClass> KindOfWords(const json& error) {
  for (const char* key : {"code", "type", "status"}) {
    const std::string word = Lower(Str(error, key));
    for (const Word& known : kWords) {
      if (known.word == word) return known.kind;
    }
  }
  return std::nullopt;
}

ErrorClass KindOfStatus(int status) {
  if (status == 401 || status == 402 || status == 403) return ErrorClass::kAuth;
  if (status == 429) return ErrorClass::kRateLimit;
  if (status == 413) return ErrorClass::kContextLength;
  if (status == 408 || status >= 500) return ErrorClass::kOverloaded;
  if (status >= 400) return ErrorClass::kBadRequest;
  return ErrorClass::kProtocol;
}

ErrorClass KindOf(int status, const json& error, const std::string& message) {
  const auto words = KindOfWords(error);
  if (words == ErrorClass::kContextLength || words == ErrorClass::kAuth) return *words;
  const bool bad_request = status == 400 || status == 422 || status == 500 || status == 0;  // llama.cpp says it with 500
  if (bad_request && SpeaksOfContextLength(Lower(message))) return ErrorClass::kContextLength;
  if (status >= 400 && status != 400) return KindOfStatus(status);
  // Google refuses a wrong key with 400.
  if (status == 400 && Lower(message).find("api key not valid") != std::string::npos) return ErrorClass::kAuth;
  if (words) return *words;
  return status == 0 ? ErrorClass::kProtocol : KindOfStatus(status);
}

// {"error": {...}}, [{"error": {...}}] (Google without alt=sse), {"error": "text"}, {"message": "text"}.
json ErrorObject(const json& body) {
  const json& object = body.is_array() && !body.empty() ? body.front() : body;
  const json& error = At(object, "error");
  if (error.is_object()) return error;
  if (error.is_string()) return {{"message", error}};
  const json& detail = At(object, "detail");
  if (detail.is_string()) return {{"message", detail}};
  return At(object, "message").is_string() ? object : json();
}
}  // namespace

// Providers have been seen to repeat the key in the text of an error.
std::string Presentable(std::string message, const Secret& key) {
  if (key.Reveal().size() >= 4) {
    for (size_t at = 0; (at = message.find(key.Reveal(), at)) != std::string::npos;) message.replace(at, key.Reveal().size(), "[key]");
  }
  if (message.size() <= kMaxMessage) return message;
  message.resize(FindInvalidUtf8(message) == std::string_view::npos ? CharacterStart(message, kMaxMessage) : kMaxMessage);
  return message += "...";
}

Failure FailureOfError(const json& error) {
  Failure out;
  const std::string message = Str(error, "message");
  // Google writes the HTTP status into `code`.
  const int64_t code = Int(error, "code");
  out.kind = KindOf(code >= 400 && code < 600 ? static_cast<int>(code) : 0, error, message);
  out.message = Tidy(message.empty() ? "the provider reports an error and does not say which" : message);
  out.retry_after = RetryAfterOfError(error);
  return out;
}

Failure FailureOfAnswer(int status, const HeaderList& headers, std::string_view body, SystemTime now) {
  const json error = ErrorObject(json::parse(body, nullptr, false));
  const std::string message = Str(error, "message");
  Failure out;
  out.status = status;
  if (status >= 300 && status < 400) {
    out.message = "status " + std::to_string(status) + ": the provider redirects, which is not followed because the key would go along; set baseUrl to where it leads";
    return out;
  }
  if (status < 300 && error.is_null()) {
    out.message = "status " + std::to_string(status) + ", but what came is not a stream of events";
    return out;
  }
  out.kind = KindOf(status < 300 ? 0 : status, error, message);
  out.message = "status " + std::to_string(status) + (message.empty() ? std::string() : ": " + Tidy(message));
  if (out.kind == ErrorClass::kRateLimit || out.kind == ErrorClass::kOverloaded || out.kind == ErrorClass::kAuth) {
    out.retry_after = RetryAfterOf(headers, now);
    if (!out.retry_after) out.retry_after = RetryAfterOfError(error);
  }
  return out;
}

}  // namespace beige::llm
