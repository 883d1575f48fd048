#include "base/clock.h"

#include <gtest/gtest.h>

namespace beige {
namespace {

using std::chrono::milliseconds;

TEST(DurationTest, ReadsEveryFormThatPeopleWrite) {
  const std::pair<const char*, int64_t> cases[] = {{"0s", 0},         {"250ms", 250},     {"30s", 30000},      {"1m30s", 90000},
                                                   {"2h", 7200000},   {"7d", 604800000},  {"1h1m1s1ms", 3661001}, {"90m", 5400000}};
  for (const auto& [text, want] : cases) {
    const auto got = ParseDuration(text);
    ASSERT_TRUE(got) << text << ": " << got.error().message;
    EXPECT_EQ(got->count(), want) << text;
  }
}

TEST(DurationTest, RefusesEverythingElseAndNamesIt) {
  for (const char* text : {"", "30", "fast", "-1s", "+1s", "1.5s", "1 s", "s", "1s ", "1x", "99999999999999999999s", "9999999999d", "1s-1s", "0x1s"}) {
    const auto got = ParseDuration(text);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, Code::kInvalid);
    EXPECT_NE(got.error().message.find(text), std::string::npos);
  }
}

TEST(DurationTest, WritesAFormThatReadsBackTheSame) {
  for (const int64_t ms : {0L, 1L, 999L, 1000L, 90000L, 3600000L, 86400000L, 90061001L}) {
    const auto back = ParseDuration(FormatDuration(milliseconds(ms)));
    ASSERT_TRUE(back) << ms;
    EXPECT_EQ(back->count(), ms);
  }
  EXPECT_EQ(FormatDuration(milliseconds(90000)), "1m30s");
}

TEST(TimeTest, IsUtcWithMilliseconds) {
  const SystemTime time{milliseconds(1796000000123)};
  EXPECT_EQ(FormatTime(time), "2026-11-30T00:53:20.123Z");
  const auto back = ParseTime(FormatTime(time));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, time);
}

TEST(TimeTest, ReadsKubernetesFormWithoutFractionAndNanosecondsOfEngines) {
  EXPECT_EQ(FormatTime(ParseTime("2026-11-29T12:00:00Z").value()), "2026-11-29T12:00:00.000Z");
  EXPECT_EQ(FormatTime(ParseTime("2026-11-29T12:00:00.123456789Z").value()), "2026-11-29T12:00:00.123Z");
}

TEST(TimeTest, RefusesLocalTimesAndNonsense) {
  for (const char* text : {"", "now", "2026-11-29", "2026-11-29T12:00:00", "2026-11-29T12:00:00+01:00", "2026-13-29T12:00:00Z", "2026-11-29T12:00:00Zx"}) {
    EXPECT_FALSE(ParseTime(text)) << text;
  }
}

TEST(ManualClockTest, MovesOnlyWhenTold) {
  ManualClock clock;
  const SteadyTime before = clock.Now();
  const SystemTime wall = clock.WallNow();
  EXPECT_EQ(clock.Now(), before);
  clock.Advance(std::chrono::seconds(5));
  EXPECT_EQ(clock.Now() - before, std::chrono::seconds(5));
  EXPECT_EQ(clock.WallNow() - wall, std::chrono::seconds(5));
}

}  // namespace
}  // namespace beige
