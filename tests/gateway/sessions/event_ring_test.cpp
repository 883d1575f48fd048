#include "gateway/sessions/event_ring.h"

#include <gtest/gtest.h>

#include "gateway/sessions/json_line.h"

namespace beige::sessions {
namespace {
Event Make(EventId id, size_t bytes = 10) { return {id.ToString(), "call", std::string(bytes, 'x'), "p", false}; }
Event Text(EventId id, const std::string& text, std::string_view name = "text", const std::string& prompt = "p") {
  return {id.ToString(), name, JsonLine().Text("text", text).Done(), prompt, false};
}

TEST(EventRingTest, WhoComesBackGetsWhatHeMissedAndNothingTwice) {
  EventRing ring({0, 0});
  for (int64_t n = 1; n <= 5; ++n) ring.Add({1, n}, Make({1, n}));
  ring.Add({2, 1}, Make({2, 1}));
  const auto missed = ring.After({1, 4});
  ASSERT_TRUE(missed);
  ASSERT_EQ(missed->size(), 2u);
  EXPECT_EQ((*missed)[0].id, "1-5");
  EXPECT_EQ((*missed)[1].id, "2-1");
  EXPECT_TRUE(ring.After({2, 1})->empty());
  EXPECT_TRUE(ring.After({9, 9})->empty());
}

TEST(EventRingTest, WhatIsGoneIsSaidToBeGone) {
  EventRing ring({0, 0});
  for (int64_t n = 1; n <= 1000; ++n) ring.Add({1, n}, Make({1, n}, 1000));
  EXPECT_FALSE(ring.After({1, 1}));
  EXPECT_FALSE(ring.After({0, 0}));
  const auto rest = ring.After(ring.dropped());
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->back().id, "1-1000");
  EXPECT_LE(rest->size() * 1000, EventRing::kMaxBytes);
}

TEST(EventRingTest, OneEventLargerThanTheBoundIsKept) {
  EventRing ring({0, 0});
  ring.Add({1, 1}, Make({1, 1}, EventRing::kMaxBytes * 2));
  EXPECT_EQ(ring.After({1, 0})->size(), 1u);
}

TEST(EventRingTest, TextsInARowAreToldFromAnyOfThemOn) {
  EventRing ring({0, 0});
  ring.Add({1, 1}, Make({1, 1}));
  const std::string pieces[] = {"a\n", "", "\"b", "\xc3\xbc", "\xff"};
  for (int64_t n = 0; n < 5; ++n) ring.Add({1, n + 2}, Text({1, n + 2}, pieces[n]));
  ring.Add({1, 7}, Text({1, 7}, "hm", "thinking"));
  ring.Add({1, 8}, Text({1, 8}, "of another", "thinking", "q"));
  for (int64_t after = 1; after <= 6; ++after) {
    std::string rest;
    for (int64_t n = after - 1; n < 5; ++n) rest += pieces[n];
    const auto missed = ring.After({1, after});
    ASSERT_TRUE(missed);
    ASSERT_EQ(missed->size(), after == 6 ? 2u : 3u) << after;
    if (after < 6) {
      EXPECT_EQ(missed->front().id, "1-6");
      EXPECT_EQ(missed->front().data, JsonLine().Text("text", rest).Done());
    }
    EXPECT_EQ((*missed)[missed->size() - 2].data, R"({"text":"hm"})");
    EXPECT_EQ(missed->back().prompt, "q");
  }
  EXPECT_EQ(ring.After({0, 0})->size(), 4u);
  EXPECT_EQ((*ring.After({0, 9}))[1].data, JsonLine().Text("text", "a\n\"b\xc3\xbc\xff").Done());
}

TEST(EventRingTest, ALongTextIsKeptInItsLastPart) {
  EventRing ring({0, 0});
  for (int64_t n = 1; n <= 100'000; ++n) ring.Add({1, n}, Text({1, n}, "word "));
  const auto rest = ring.After(ring.dropped());
  ASSERT_TRUE(rest);
  size_t bytes = 0;
  for (const Event& event : *rest) bytes += event.data.size();
  EXPECT_GT(bytes, EventRing::kMaxBytes / 3);
  EXPECT_LT(bytes, EventRing::kMaxBytes);
  EXPECT_EQ(rest->back().id, "1-100000");
}

TEST(EventIdTest, OnlyTwoNumbersAndADashAreAnId) {
  EXPECT_EQ(ParseEventId("3-17"), (EventId{3, 17}));
  for (const char* bad : {"", "3", "3-", "-3", "3-x", "3 -4", "3--4", "-1-2", "99999999999999999999-1", "1-2-3"}) EXPECT_FALSE(ParseEventId(bad)) << bad;
}

TEST(JsonLineTest, ValuesCanNotForgeMembersOrLines) {
  EXPECT_EQ(JsonLine().Text("text", "a\"}\n\x01 \xff").Number("n", -5).Bool("b", true).Done(), "{\"text\":\"a\\\"}\\n\\u0001 \xef\xbf\xbd\",\"n\":-5,\"b\":true}");
  EXPECT_EQ(JsonLine().Done(), "{}");
  EXPECT_EQ(Shortened("{\"a\":\n 1}", 100), "{\"a\":1}");
  EXPECT_EQ(Shortened("[1]", 100), "{}");
  EXPECT_EQ(Shortened("{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}", 1'000'000), "{}");
  EXPECT_EQ(Shortened("{\"p\":\"x\",\"t\":\"" + std::string(5000, 'y') + "\"}", 600), "{\"p\":\"x\",\"t\":\"" + std::string(200, 'y') + "\\n[4800 more bytes]\"}");
}
}  // namespace
}  // namespace beige::sessions
