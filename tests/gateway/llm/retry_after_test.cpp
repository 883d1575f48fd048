#include "gateway/llm/retry_after.h"

#include <gtest/gtest.h>

#include <string>

namespace beige::llm {
namespace {
using std::chrono::milliseconds;
using std::chrono::seconds;
using Wait = std::optional<milliseconds>;
const SystemTime kNoon = *ParseTime("2026-11-29T12:00:00Z");
Wait Of(const HeaderList& headers) { return RetryAfterOf(headers, kNoon); }
}  // namespace

TEST(RetryAfterTest, AllFormsOfTheHeader) {
  const std::pair<std::string, Wait> rows[] = {
      {"7", seconds(7)},
      {" 7 ", seconds(7)},
      {"0.25", milliseconds(250)},
      {"1.0004", milliseconds(1001)},
      {"Sun, 29 Nov 2026 12:01:30 GMT", seconds(90)},
      {"Sunday, 29-Nov-26 12:01:30 GMT", seconds(90)},
      {"Sun Nov 29 12:01:30 2026", seconds(90)},
      {"Fri, 31 Dec 9999 23:59:59 GMT", kLongestWait},
      {"999999999999999999999999", kLongestWait},
      {std::string(400, '9'), std::nullopt},
      {"Sun, 29 Nov 2026 11:00:00 GMT", std::nullopt},
      {"0", std::nullopt},
      {"-5", std::nullopt},
      {"+5", std::nullopt},
      {"1e9", std::nullopt},
      {"0x10", std::nullopt},
      {"inf", std::nullopt},
      {"nan", std::nullopt},
      {".", std::nullopt},
      {"1.2.3", std::nullopt},
      {"7 seconds", std::nullopt},
      {"soon", std::nullopt},
      {"", std::nullopt},
      {"Sun, 99 Nov 2026 12:01:30 GMT", std::nullopt},
  };
  for (const auto& [text, wait] : rows) EXPECT_EQ(ParseRetryAfter(text, kNoon), wait) << text;
}

TEST(RetryAfterTest, GoDurations) {
  EXPECT_EQ(ParseGoDuration("6m0s"), seconds(360));
  EXPECT_EQ(ParseGoDuration("1h2m3.5s"), milliseconds(3'723'500));
  EXPECT_EQ(ParseGoDuration("120ms"), milliseconds(120));
  for (const char* text : {"", "s", "5", "5x", "-5s", "5s garbage", "0s"}) EXPECT_EQ(ParseGoDuration(text), std::nullopt) << text;
}

TEST(RetryAfterTest, TheMostExactHeaderCounts) {
  EXPECT_EQ(Of({{"retry-after", "7"}, {"retry-after-ms", "1500"}}), milliseconds(1500));
  EXPECT_EQ(Of({{"retry-after", "7"}, {"retry-after-ms", "garbage"}}), seconds(7));
  EXPECT_EQ(Of({{"retry-after", "-1"}, {"anthropic-ratelimit-requests-reset", "2026-11-29T12:00:30Z"}}), seconds(30));
  EXPECT_EQ(Of({}), std::nullopt);
}

TEST(RetryAfterTest, ResetsCountForLimitsOfWhichNothingRemains) {
  EXPECT_EQ(Of({{"anthropic-ratelimit-requests-remaining", "12"},
                {"anthropic-ratelimit-requests-reset", "2026-11-29T12:10:00Z"},
                {"anthropic-ratelimit-input-tokens-remaining", "0"},
                {"anthropic-ratelimit-input-tokens-reset", "2026-11-29T12:00:20Z"},
                {"anthropic-ratelimit-output-tokens-remaining", "0"},
                {"anthropic-ratelimit-output-tokens-reset", "2026-11-29T12:00:40Z"}}),
            seconds(40));
  EXPECT_EQ(Of({{"x-ratelimit-remaining-requests", "5"}, {"x-ratelimit-reset-requests", "6m0s"}, {"x-ratelimit-remaining-tokens", "0"}, {"x-ratelimit-reset-tokens", "8.5s"}}), milliseconds(8500));
  EXPECT_EQ(Of({{"x-ratelimit-reset-requests", "3"}}), seconds(3));
  EXPECT_EQ(Of({{"anthropic-ratelimit-requests-reset", "2026-11-29T11:00:00Z"}}), std::nullopt);
  EXPECT_EQ(Of({{"anthropic-ratelimit-requests-reset", "9999-12-31T23:59:59Z"}}), std::nullopt);
  EXPECT_EQ(Of({{"x-ratelimit-reset-", "3"}, {"anthropic-ratelimit--reset", "x"}}), std::nullopt);
}

}  // namespace beige::llm
