#include "gateway/llm/answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/utf8.h"
#include "base/json_text.h"

namespace beige::llm {
namespace {
constexpr size_t kMaxAnswer = 32u << 20;
constexpr size_t kMaxCalls = 128;
constexpr int kMaxDepth = 64;               // of a call's arguments
constexpr int64_t kMaxTokens = 1'000'000'000'000;

bool IsJsonObject(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{' && nlohmann::json::accept(text);
}

int64_t Sane(int64_t tokens) { return std::clamp<int64_t>(tokens, 0, kMaxTokens); }
}  // namespace

bool Answer::Grow(size_t bytes) {
  if (ended_) return false;
  Start("", "");
  bytes_ += bytes;
  if (bytes_ <= kMaxAnswer) return true;
  Fail({ErrorClass::kProtocol, "the answer is larger than 32 MiB"});
  return false;
}

void Answer::Start(std::string_view id, std::string_view model) {
  if (started_ || ended_) return;
  started_ = true;
  Emit(Started{std::string(id), std::string(model), {}});
}

void Answer::Text(std::string_view text) {
  if (text.empty() || !Grow(text.size())) return;
  CloseThought();
  content_ = true;
  Emit(TextDelta{std::string(text)});
}

void Answer::Think(std::string_view text) {
  if (text.empty() || !Grow(text.size())) return;
  content_ = thought_open_ = true;
  Emit(ThinkingDelta{std::string(text)});
}

void Answer::EndThought(std::string signature, bool redacted) {
  if (!Grow(signature.size())) return;
  if (!thought_open_ && signature.empty()) return;
  thought_open_ = false;
  Emit(ThinkingEnd{std::move(signature), redacted});
}

void Answer::CloseThought() {
  if (std::exchange(thought_open_, false)) Emit(ThinkingEnd{});
}

int Answer::Call(std::string_view id, std::string_view name) {
  const int index = static_cast<int>(calls_.size());
  if (!Grow(id.size() + name.size())) return index;
  CloseThought();
  content_ = true;
  if (calls_.size() == kMaxCalls) {
    Fail({ErrorClass::kProtocol, "more than " + std::to_string(kMaxCalls) + " tool calls in one answer"});
    return index;
  }
  ToolCall& call = calls_.emplace_back();
  call.id = id.empty() ? "call_" + std::to_string(index) : std::string(id);
  call.name = name.substr(0, CharacterStart(name, kMaxToolName + 4));  // of a longer one enough that it stays too long
  call.origin = api_;
  Emit(ToolCallStart{index, call.id, call.name});
  return index;
}

void Answer::CallArgs(int index, std::string_view more) {
  if (index < 0 || static_cast<size_t>(index) >= calls_.size() || more.empty() || !Grow(more.size())) return;
  calls_[static_cast<size_t>(index)].arguments += more;
  Emit(ToolCallArgs{index, std::string(more)});
}

void Answer::CallArgsWhole(int index, std::string_view arguments) {
  if (index < 0 || static_cast<size_t>(index) >= calls_.size() || ended_) return;
  std::string& known = calls_[static_cast<size_t>(index)].arguments;
  if (known.empty()) {
    CallArgs(index, arguments);
  } else if (!arguments.empty() && Grow(arguments.size())) {
    known = arguments;
  }
}

void Answer::CallSignature(int index, std::string_view signature) {
  if (index >= 0 && static_cast<size_t>(index) < calls_.size() && Grow(signature.size())) calls_[static_cast<size_t>(index)].signature = signature;
}

void Answer::SetUsage(const Usage& usage) {
  usage_ = {Sane(usage.input), Sane(usage.output), Sane(usage.cache_read), Sane(usage.cache_write), Sane(usage.thinking), usage.cost_usd};
  has_usage_ = true;
}

void Answer::SetStop(StopReason reason, std::string_view detail) {
  stop_ = {reason, std::string(detail)};
  has_stop_ = true;
}

void Answer::EmitCalls() {
  const bool cut = stop_.reason == StopReason::kMaxTokens || stop_.reason == StopReason::kRefused;
  for (size_t i = 0; i < calls_.size(); ++i) {
    ToolCall& call = calls_[i];
    const int index = static_cast<int>(i);
    if (call.arguments.find_first_not_of(" \t\r\n") == std::string::npos) call.arguments = "{}";
    if (cut) {
      Emit(ToolCallBroken{index, call.id, call.name, "the answer was cut before the call was complete; it was not run"});
    } else if (call.name.empty()) {
      Emit(ToolCallBroken{index, call.id, call.name, "the call names no tool; it was not run"});
    } else if (!IsToolName(call.name)) {
      Emit(ToolCallBroken{index, call.id, call.name, "a tool's name has 1 to 64 letters, digits, - and _; the call was not run"});
    } else if (JsonDeeperThan(call.arguments, kMaxDepth)) {
      Emit(ToolCallBroken{index, call.id, call.name, "the arguments are nested deeper than " + std::to_string(kMaxDepth) + "; the call was not run"});
    } else if (!IsJsonObject(call.arguments)) {
      Emit(ToolCallBroken{index, call.id, call.name, "the arguments are not a JSON object; the call was not run"});
    } else {
      Emit(ToolCallEnd{index, call});
    }
  }
}

void Answer::EmitUsage() {
  if (has_usage_) Emit(usage_);
}

void Answer::Finish() {
  if (ended_) return;
  if (!has_stop_) return Fail({ErrorClass::kProtocol, started_ ? "the answer ended without saying why: it was cut" : "the answer is empty"});
  if (!content_ && (stop_.reason == StopReason::kEnd || stop_.reason == StopReason::kToolUse)) return Fail({ErrorClass::kProtocol, "the answer is empty"});
  CloseThought();
  EmitCalls();
  EmitUsage();
  if (stop_.reason == StopReason::kEnd && !calls_.empty()) stop_.reason = StopReason::kToolUse;  // some servers say "stop" beside calls
  if (stop_.reason == StopReason::kToolUse && calls_.empty()) stop_.reason = StopReason::kEnd;
  ended_ = true;
  Emit(stop_);
}

void Answer::Fail(Failure failure) {
  if (std::exchange(ended_, true)) return;
  EmitUsage();
  Emit(Failed{std::move(failure)});
}

}  // namespace beige::llm
