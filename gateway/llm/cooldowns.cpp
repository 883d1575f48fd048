#include "gateway/llm/cooldowns.h"

#include <algorithm>

#include "gateway/llm/retry_after.h"

namespace beige::llm {
namespace {
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct Span {
  milliseconds first{0};
  milliseconds longest{0};
};

Span SpanOf(ErrorClass kind) {
  switch (kind) {
    case ErrorClass::kRateLimit: return {seconds(20), minutes(10)};
    case ErrorClass::kOverloaded: return {seconds(5), minutes(5)};
    case ErrorClass::kAuth: return {seconds(60), minutes(10)};
    case ErrorClass::kNetwork: return {seconds(2), minutes(1)};
    case ErrorClass::kStalled: return {seconds(10), minutes(5)};
    case ErrorClass::kProtocol: return {seconds(2), minutes(1)};
    default: return {};
  }
}
}  // namespace

milliseconds CooldownFor(ErrorClass kind, int failures) {
  const Span span = SpanOf(kind);
  return std::min(span.longest, span.first * (int64_t{1} << std::clamp(failures - 1, 0, 20)));
}

void Cooldowns::Failed(const ModelName& model, const Failure& failure, SteadyTime now) {
  if (SpanOf(failure.kind).longest == milliseconds(0)) return;
  Entry& entry = entries_[model];
  ++entry.failures;
  const milliseconds wait = std::min(failure.retry_after.value_or(CooldownFor(failure.kind, entry.failures)), kLongestWait);
  if (entry.until >= now + wait) return;
  entry.until = now + wait;
  entry.why = failure.kind;
  entry.message = failure.message;
}

void Cooldowns::Succeeded(const ModelName& model) {
  if (const auto found = entries_.find(model); found != entries_.end()) found->second.failures = 0;
}

void Cooldowns::Forget(const std::string& provider) {
  std::erase_if(entries_, [&](const auto& item) { return item.first.provider == provider; });
}

std::optional<SteadyTime> Cooldowns::Until(const ModelName& model, SteadyTime now) const {
  const Entry* entry = Find(model);
  if (entry == nullptr || entry->until <= now) return std::nullopt;
  return entry->until;
}

const Cooldowns::Entry* Cooldowns::Find(const ModelName& model) const {
  const auto found = entries_.find(model);
  return found == entries_.end() ? nullptr : &found->second;
}

}  // namespace beige::llm
