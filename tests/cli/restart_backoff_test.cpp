#include "cli/supervise/restart_backoff.h"

#include <gtest/gtest.h>

namespace beige::cli {
namespace {
using namespace std::chrono_literals;

TEST(RestartBackoffTest, StartsAtOnceThenDoublesFromATenthOfASecondToTwo) {
  RestartBackoff backoff;
  for (const auto want : {0ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 2000ms, 2000ms}) EXPECT_EQ(backoff.AfterRunOf(10ms), want);
}

TEST(RestartBackoffTest, StartsAnewAfterARunOfFiveSeconds) {
  RestartBackoff backoff;
  for (int i = 0; i < 40; ++i) backoff.AfterRunOf(4999ms);
  EXPECT_EQ(backoff.AfterRunOf(4999ms), 2000ms);
  EXPECT_EQ(backoff.AfterRunOf(5s), 0ms);
  EXPECT_EQ(backoff.AfterRunOf(1ms), 100ms);
}

}  // namespace
}  // namespace beige::cli
