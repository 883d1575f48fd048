#include "gateway/llm/retry_after.h"

#include <time.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "gateway/llm/dialect.h"

namespace beige::llm {
namespace {
using std::chrono::milliseconds;
using Wait = std::optional<milliseconds>;

// Milliseconds, rounded up; nothing for what is not a positive number of them.
Wait Positive(double ms) {
  if (!std::isfinite(ms) || ms <= 0) return std::nullopt;
  if (ms >= static_cast<double>(kLongestWait.count())) return kLongestWait;
  return milliseconds(static_cast<int64_t>(std::ceil(ms)));
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Digits with at most one point: no sign, exponent, hex or "inf". Returns what was read, and takes it off `text`.
std::optional<double> TakeNumber(std::string_view& text) {
  size_t n = 0;
  int points = 0;
  while (n < text.size() && ((text[n] >= '0' && text[n] <= '9') || text[n] == '.')) points += text[n++] == '.';
  if (n == 0 || points > 1 || n > 300 || (points == 1 && n == 1)) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + n, value, std::chars_format::fixed);
  if (error != std::errc() && error != std::errc::result_out_of_range) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return error == std::errc::result_out_of_range ? HUGE_VAL : value;
}

std::optional<double> WholeNumber(std::string_view text) {
  const auto value = TakeNumber(text);
  return text.empty() ? value : std::nullopt;
}

Wait ParseHttpDate(std::string_view text, SystemTime now) {
  const std::string date(text.substr(0, 64));
  for (const char* form : {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"}) {
    tm parts{};
    const char* end = ::strptime(date.c_str(), form, &parts);
    if (end == nullptr || *end != '\0') continue;
    // In doubles: a year such as 9999 is beyond what the system's clock can hold.
    const double at = static_cast<double>(::timegm(&parts)) * 1000;
    return Positive(at - std::chrono::duration<double, std::milli>(now.time_since_epoch()).count());
  }
  return std::nullopt;
}

std::string_view Find(const HeaderList& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (key == name) return Trim(value);
  }
  return {};
}

// The longest wait of those limits of which nothing remains; a limit that does not tell what remains counts.
template <typename Parse>
Wait Resets(const HeaderList& headers, std::string_view before, std::string_view after, Parse parse) {
  Wait longest;
  for (const auto& [name, value] : headers) {
    if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) continue;
    const std::string what = name.substr(before.size(), name.size() - before.size() - after.size());
    // anthropic-ratelimit-WHAT-reset stands beside ...-WHAT-remaining, x-ratelimit-reset-WHAT beside x-ratelimit-remaining-WHAT.
    const std::string_view remaining = after.empty() ? Find(headers, "x-ratelimit-remaining-" + what) : Find(headers, std::string(before) + what + "-remaining");
    if (!remaining.empty() && WholeNumber(remaining).value_or(0) > 0) continue;
    if (const Wait wait = parse(Trim(value)); wait && (!longest || *wait > *longest)) longest = wait;
  }
  return longest;
}
}  // namespace

Wait ParseRetryAfter(std::string_view text, SystemTime now) {
  text = Trim(text);
  if (const auto seconds = WholeNumber(text)) return Positive(*seconds * 1000);
  return ParseHttpDate(text, now);
}

Wait ParseGoDuration(std::string_view text) {
  double ms = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const auto number = TakeNumber(text);
    if (!number) return std::nullopt;
    static constexpr std::pair<std::string_view, double> kUnits[] = {{"ms", 1}, {"us", 1e-3}, {"ns", 1e-6}, {"h", 3.6e6}, {"m", 6e4}, {"s", 1e3}};
    const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const auto& u) { return text.starts_with(u.first); });
    if (unit == std::end(kUnits)) return std::nullopt;
    text.remove_prefix(unit->first.size());
    ms += *number * unit->second;
  }
  return Positive(ms);
}

Wait RetryAfterOf(const HeaderList& headers, SystemTime now) {
  if (const auto ms = WholeNumber(Find(headers, "retry-after-ms"))) {
    if (const Wait wait = Positive(*ms)) return wait;
  }
  if (const Wait wait = ParseRetryAfter(Find(headers, "retry-after"), now)) return wait;
  const Wait anthropic = Resets(headers, "anthropic-ratelimit-", "-reset", [&](std::string_view value) -> Wait {
    const auto at = ParseTime(value);
    return at ? Positive(std::chrono::duration<double, std::milli>(*at - now).count()) : std::nullopt;
  });
  if (anthropic) return anthropic;
  return Resets(headers, "x-ratelimit-reset-", "", [](std::string_view value) -> Wait {
    if (const auto seconds = WholeNumber(value)) return Positive(*seconds * 1000);
    return ParseGoDuration(value);
  });
}

Wait RetryAfterOfError(const nlohmann::json& error) {
  const nlohmann::json& details = At(error, "details");
  if (!details.is_array()) return std::nullopt;
  for (const nlohmann::json& detail : details) {
    if (!Str(detail, "@type").ends_with("google.rpc.RetryInfo")) continue;
    if (const Wait wait = ParseGoDuration(Str(detail, "retryDelay"))) return wait;
  }
  return std::nullopt;
}

}  // namespace beige::llm
