#include "gateway/sessions/event_ring.h"

#include <gtest/gtest.h>

#include "gateway/sessions/json_line.h"

namespace beige::sessions {
namespace {
EventPtr Make(EventId id, size_t bytes = 10) { return std::make_shared<const Event>(Event{id.ToString(), "text", std::string(bytes, 'x'), "p", false}); }

TEST(EventRingTest, WhoComesBackGetsWhatHeMissedAndNothingTwice) {
  EventRing ring({0, 0});
  for (int64_t n = 1; n <= 5; ++n) ring.Add({1, n}, Make({1, n}));
  ring.Add({2, 1}, Make({2, 1}));
  const auto missed = ring.After({1, 4});
  ASSERT_TRUE(missed);
  ASSERT_EQ(missed->size(), 2u);
  EXPECT_EQ((*missed)[0]->id, "1-5");
  EXPECT_EQ((*missed)[1]->id, "2-1");
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
  EXPECT_EQ(rest->back()->id, "1-1000");
  EXPECT_LE(rest->size() * 1000, EventRing::kMaxBytes);
}

TEST(EventRingTest, OneEventLargerThanTheBoundIsKept) {
  EventRing ring({0, 0});
  ring.Add({1, 1}, Make({1, 1}, EventRing::kMaxBytes * 2));
  EXPECT_EQ(ring.After({1, 0})->size(), 1u);
}

TEST(EventIdTest, OnlyTwoNumbersAndADashAreAnId) {
  EXPECT_EQ(ParseEventId("3-17"), (EventId{3, 17}));
  for (const char* bad : {"", "3", "3-", "-3", "3-x", "3 -4", "3--4", "-1-2", "99999999999999999999-1", "1-2-3"}) EXPECT_FALSE(ParseEventId(bad)) << bad;
}

TEST(JsonLineTest, ValuesCanNotForgeMembersOrLines) {
  EXPECT_EQ(JsonLine().Text("text", "a\"}\n\x01 \xff").Number("n", -5).Bool("b", true).Done(), "{\"text\":\"a\\\"}\\n\\u0001 \xef\xbf\xbd\",\"n\":-5,\"b\":true}");
  EXPECT_EQ(JsonLine().Done(), "{}");
  EXPECT_EQ(OneLine("{\"a\":\n 1}"), "{\"a\":1}");
  EXPECT_EQ(OneLine("[1]"), "{}");
}
}  // namespace
}  // namespace beige::sessions
