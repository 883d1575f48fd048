#include "cli/chat/session_event.h"

#include <nlohmann/json.hpp>

#include "cli/chat/terminal_text.h"

namespace beige::cli {
namespace {
using nlohmann::ordered_json;
using Kind = SessionEvent::Kind;

constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"accepted", Kind::kAccepted}, {"turn", Kind::kTurn},     {"steer", Kind::kSteer},   {"model", Kind::kModel},     {"text", Kind::kText},
    {"thinking", Kind::kThinking}, {"writing", Kind::kWriting}, {"call", Kind::kCall},   {"output", Kind::kOutput},   {"result", Kind::kResult},
    {"usage", Kind::kUsage},       {"compacted", Kind::kCompacted}, {"done", Kind::kDone}, {"error", Kind::kError},   {"aborted", Kind::kAborted},
    {"reset", Kind::kReset},       {"waiting", Kind::kWaiting}};

}  // namespace

std::string TextIn(const ordered_json& value, const char* key) {
  const auto it = value.find(key);
  return it != value.end() && it->is_string() ? it->get<std::string>() : "";
}

int64_t NumberIn(const ordered_json& value, const char* key) {
  const auto it = value.find(key);
  return it != value.end() && it->is_number() ? it->get<int64_t>() : 0;
}

bool TrueIn(const ordered_json& value, const char* key) {
  const auto it = value.find(key);
  return it != value.end() && it->is_boolean() && it->get<bool>();
}

TokenUsage& TokenUsage::operator+=(const TokenUsage& other) {
  input += other.input;
  output += other.output;
  cache_read += other.cache_read;
  cache_write += other.cache_write;
  cost_usd += other.cost_usd;
  return *this;
}

TokenUsage ReadUsage(const ordered_json& value) {
  TokenUsage usage;
  if (!value.is_object()) return usage;
  usage.input = NumberIn(value, "input");
  usage.output = NumberIn(value, "output");
  usage.cache_read = NumberIn(value, "cacheRead");
  usage.cache_write = NumberIn(value, "cacheWrite");
  const auto cost = value.find("costUsd");
  if (cost != value.end() && cost->is_number()) usage.cost_usd = cost->get<double>();
  return usage;
}

std::string CallText(std::string_view name, const ordered_json& arguments) {
  const std::string tool(name);
  if (!arguments.is_object() || arguments.empty()) return tool;
  if (tool == "exec" && arguments.contains("command")) return tool + " " + TextIn(arguments, "command");
  if (tool == "read" || tool == "write" || tool == "patch") {
    std::string text = tool + " " + TextIn(arguments, "path");
    if (tool == "read" && arguments.contains("offset")) text += " from line " + std::to_string(NumberIn(arguments, "offset"));
    if (tool == "write") text += " (" + BytesText(static_cast<int64_t>(TextIn(arguments, "content").size())) + ")";
    return text;
  }
  std::string text = tool;
  if (const auto args = arguments.find("args"); args != arguments.end() && args->is_array()) {
    for (const auto& word : *args) text += " " + (word.is_string() ? word.get<std::string>() : word.dump());
    if (const std::string in = TextIn(arguments, "stdin"); !in.empty()) text += " < " + BytesText(static_cast<int64_t>(in.size()));
    return text;
  }
  return text + " " + arguments.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

SessionEvent ReadSessionEvent(std::string_view name, std::string_view data) {
  SessionEvent event;
  for (const auto& [word, kind] : kKinds) {
    if (word == name) event.kind = kind;
  }
  const auto value = ordered_json::parse(data, nullptr, false);
  if (!value.is_object()) {
    event.kind = Kind::kOther;
    return event;
  }
  event.session = TextIn(value, "session");
  event.prompt = TextIn(value, "prompt");
  event.id = TextIn(value, "id");
  event.name = TextIn(value, event.kind == Kind::kModel ? "model" : "name");
  event.text = TextIn(value, event.kind == Kind::kError || event.kind == Kind::kWaiting || event.kind == Kind::kReset ? "message" : event.kind == Kind::kCompacted ? "summary" : "text");
  event.stream = TextIn(value, "stream");
  event.diff = TextIn(value, "diff");
  event.stop = TextIn(value, "stop");
  event.code = TextIn(value, "code");
  event.ahead = NumberIn(value, "ahead");
  event.bytes = NumberIn(value, "bytes");
  event.retry_after_ms = NumberIn(value, event.kind == Kind::kWaiting ? "ms" : "retryAfterMs");
  event.is_error = TrueIn(value, "error");
  if (event.kind == Kind::kUsage) event.usage = ReadUsage(value);
  if (event.kind == Kind::kCall) {
    auto arguments = value.value("arguments", ordered_json::object());
    if (arguments.is_string()) arguments = ordered_json::parse(arguments.get<std::string>(), nullptr, false);
    event.call = CallText(event.name, arguments);
  }
  return event;
}

void EventStream::Feed(std::string_view bytes, const std::function<void(std::string_view, std::string_view)>& on_event) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    line_.append(bytes.substr(0, end));
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    std::string line = std::move(line_);
    line_.clear();
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) {
      if (!data_.empty()) on_event(name_.empty() ? "message" : name_, data_);
      name_.clear();
      data_.clear();
      continue;
    }
    const size_t colon = std::min(line.find(':'), line.size());
    std::string_view value = std::string_view(line).substr(std::min(colon + 1, line.size()));
    if (value.starts_with(' ')) value.remove_prefix(1);
    const std::string_view field = std::string_view(line).substr(0, colon);
    if (field == "event") name_ = value;
    if (field == "data") {
      if (!data_.empty()) data_ += '\n';
      data_ += value;
    }
  }
}

}  // namespace beige::cli
