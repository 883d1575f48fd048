#ifndef BEIGE_GATEWAY_LLM_RETRY_AFTER_H_
#define BEIGE_GATEWAY_LLM_RETRY_AFTER_H_

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace beige::llm {

using HeaderList = std::vector<std::pair<std::string, std::string>>;  // names in lower case

// No answer makes us wait for longer.
inline constexpr std::chrono::milliseconds kLongestWait = std::chrono::hours(24);

// How long to wait, by the first of these that makes sense: retry-after-ms; retry-after as seconds, a fraction of them, or an HTTP date;
// anthropic-ratelimit-*-reset (RFC 3339) and x-ratelimit-reset-* (OpenAI's "6m0s", or seconds) of the limits of which nothing remains.
// Garbage, negative values and dates that have passed make no sense; never 0, at most kLongestWait.
std::optional<std::chrono::milliseconds> RetryAfterOf(const HeaderList& headers, SystemTime now);

// Google: error.details[] of type RetryInfo with retryDelay "12.5s".
std::optional<std::chrono::milliseconds> RetryAfterOfError(const nlohmann::json& error);

// "7", "0.5", "Sun, 06 Nov 1994 08:49:37 GMT" (all three forms of RFC 9110).
std::optional<std::chrono::milliseconds> ParseRetryAfter(std::string_view text, SystemTime now);
std::optional<std::chrono::milliseconds> ParseGoDuration(std::string_view text);  // "6m0s", "1h2m3.5s", "120ms", "12s"

}  // namespace beige::llm

#endif
