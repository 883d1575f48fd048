#include "gateway/llm/event.h"

namespace beige::llm {
namespace {
template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string Number(int64_t value) { return std::to_string(value); }
}  // namespace

Usage& Usage::operator+=(const Usage& other) {
  input += other.input;
  output += other.output;
  cache_read += other.cache_read;
  cache_write += other.cache_write;
  thinking += other.thinking;
  cost_usd += other.cost_usd;
  return *this;
}

std::string_view ErrorClassName(ErrorClass kind) {
  switch (kind) {
    case ErrorClass::kRateLimit: return "rate_limit";
    case ErrorClass::kOverloaded: return "overloaded";
    case ErrorClass::kAuth: return "auth";
    case ErrorClass::kContextLength: return "context_length";
    case ErrorClass::kBadRequest: return "bad_request";
    case ErrorClass::kNetwork: return "network";
    case ErrorClass::kStalled: return "stalled";
    case ErrorClass::kProtocol: return "protocol";
    case ErrorClass::kCooling: return "cooling";
    case ErrorClass::kBusy: return "busy";
  }
  return "protocol";
}

std::string_view StopReasonName(StopReason reason) {
  switch (reason) {
    case StopReason::kEnd: return "end";
    case StopReason::kMaxTokens: return "max_tokens";
    case StopReason::kToolUse: return "tool_use";
    case StopReason::kRefused: return "refused";
  }
  return "end";
}

bool IsContent(const Event& event) {
  if (const auto* text = std::get_if<TextDelta>(&event)) return !text->text.empty();
  if (const auto* text = std::get_if<ThinkingDelta>(&event)) return !text->text.empty();
  return std::holds_alternative<ToolCallStart>(event) || std::holds_alternative<ToolCallEnd>(event);
}

std::string Describe(const Event& event) {
  return std::visit(
      Overloaded{
          [](const Started& e) { return "started " + e.id + " " + e.model; },
          [](const TextDelta& e) { return "text " + e.text; },
          [](const ThinkingDelta& e) { return "thinking " + e.text; },
          [](const ThinkingEnd& e) { return "thought " + e.signature + (e.redacted ? " redacted" : ""); },
          [](const ToolCallStart& e) { return "call " + Number(e.index) + " " + e.id + " " + e.name; },
          [](const ToolCallArgs& e) { return "args " + Number(e.index) + " " + e.text; },
          [](const ToolCallEnd& e) {
            return "run " + Number(e.index) + " " + e.call.id + " " + e.call.name + " " + e.call.arguments + (e.call.signature.empty() ? "" : " " + e.call.signature);
          },
          [](const ToolCallBroken& e) { return "broken " + Number(e.index) + " " + e.id + " " + e.name + ": " + e.why; },
          [](const Usage& e) {
            return "usage " + Number(e.input) + "+" + Number(e.cache_read) + "+" + Number(e.cache_write) + " -> " + Number(e.output) + " (" + Number(e.thinking) + ")";
          },
          [](const Stopped& e) { return "stopped " + std::string(StopReasonName(e.reason)) + " " + e.detail; },
          [](const Failed& e) {
            std::string out = "failed " + std::string(ErrorClassName(e.failure.kind));
            if (e.failure.status != 0) out += " " + Number(e.failure.status);
            if (e.failure.retry_after) out += " after " + Number(e.failure.retry_after->count()) + "ms";
            return out + ": " + e.failure.message;
          },
      },
      event);
}

}  // namespace beige::llm
