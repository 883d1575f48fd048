#include "operator/reconcile/transitions.h"

#include <gtest/gtest.h>

namespace beige {
namespace {
Condition Of(const std::string& type, Truth status, const std::string& reason, const std::string& message = "") {
  return {type, status, reason, message, "", 1};
}

TEST(TransitionsTest, TroubleThatBeginsIsAWarningOnceAndReadyIsSaid) {
  const std::vector<Condition> bad = {Of("ImageReady", Truth::kFalse, "ImageMissing", "no image"),
                                      Of("Ready", Truth::kFalse, "ImageMissing", "no image")};
  EXPECT_EQ(EventsOf({}, bad), (std::vector<EventText>{{EventType::kWarning, "ImageMissing", "no image"}}));
  EXPECT_TRUE(EventsOf(bad, bad).empty());
  const std::vector<Condition> good = {Of("ImageReady", Truth::kTrue, "ImagePresent"), Of("Ready", Truth::kTrue, "RoundTripOK")};
  ASSERT_EQ(EventsOf(bad, good).size(), 1u);
  EXPECT_EQ(EventsOf(bad, good)[0].reason, "Ready");
}

TEST(TransitionsTest, AnotherMistakeInTheFileIsSaidAgain) {
  const std::vector<Condition> one = {Of("Accepted", Truth::kFalse, "InvalidSpec", "line 3")};
  const std::vector<Condition> other = {Of("Accepted", Truth::kFalse, "InvalidSpec", "line 9")};
  EXPECT_EQ(EventsOf(one, other), (std::vector<EventText>{{EventType::kWarning, "InvalidSpec", "line 9"}}));
}

TEST(TransitionsTest, StepsOnTheWayAreNotWorthAnEvent) {
  EXPECT_TRUE(EventsOf({}, {Of("SandboxRunning", Truth::kFalse, "Creating"), Of("Ready", Truth::kFalse, "WaitingForRoundTrip")}).empty());
}

}  // namespace
}  // namespace beige
