#include "gateway/http/prompt_reply.h"

#include <nlohmann/json.hpp>

#include "gateway/http/reply.h"
#include "gateway/http/session_json.h"

namespace beige {
namespace {
using nlohmann::ordered_json;

ordered_json Parse(const std::string& data) {
  ordered_json json = ordered_json::parse(data, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : ordered_json::object();
}

template <typename T>
T Get(const ordered_json& json, const char* field, T absent) {
  const auto found = json.find(field);
  if (found == json.end()) return absent;
  if constexpr (std::is_same_v<T, std::string>) return found->is_string() ? found->template get<T>() : absent;
  else return found->is_number() ? found->template get<T>() : absent;
}

llm::Usage UsageOf(const ordered_json& event) {
  llm::Usage usage;
  usage.input = Get<int64_t>(event, "input", 0);
  usage.output = Get<int64_t>(event, "output", 0);
  usage.cache_read = Get<int64_t>(event, "cacheRead", 0);
  usage.cache_write = Get<int64_t>(event, "cacheWrite", 0);
  usage.cost_usd = Get<double>(event, "costUsd", 0);
  return usage;
}
}  // namespace

void PromptReply::Take(const sessions::Event& event, bool last) {
  if (event.name == "model") text_.clear();
  if (event.name == "text") text_ += Get<std::string>(Parse(event.data), "text", "");
  if (event.name == "usage") usage_ += UsageOf(Parse(event.data));
  if (!last) return;

  ordered_json stop, error;  // null
  const ordered_json data = Parse(event.data);
  if (event.name == "done") stop = Get<std::string>(data, "stop", "end");
  if (event.name == "aborted") stop = "aborted";
  if (event.name == "error") {
    error = {{"code", Get<std::string>(data, "code", "internal")}, {"message", Get<std::string>(data, "message", "")}};
    if (const auto after = data.find("retryAfterMs"); after != data.end() && after->is_number()) error["retryAfterMs"] = *after;
  }
  if (for_beige()) {
    if (error.is_null() && event.name != "aborted") return Reply(JsonReply(DumpJson(ordered_json{{"response", text_}})));
    const std::string message = error.is_null() ? "the prompt was taken back" : error["message"].get<std::string>();
    return Reply(JsonError(502, error.is_null() ? "Aborted" : "Failed", message));
  }
  Reply(JsonReply(DumpJson(ordered_json{{"session", accepted().session}, {"prompt", accepted().prompt}, {"text", text_}, {"stop", stop}, {"usage", UsageJson(usage_)}, {"error", error}})));
}

}  // namespace beige
