#include "operator/source/removal_hold.h"

#include <gtest/gtest.h>

namespace beige {
namespace {
Snapshot Of(int count) {
  Snapshot snapshot;
  for (int i = 0; i < count; ++i) {
    Agent agent;
    agent.metadata.name = "a" + std::to_string(i);
    snapshot.agents[agent.key()] = SourceAgent{agent, {}, {}, "f"};
  }
  return snapshot;
}

TEST(RemovalHoldTest, SmallRemovalsAreBelievedAtOnce) {
  struct Row { int before, after; };
  for (const Row row : {Row{3, 0}, Row{1, 0}, Row{10, 7}, Row{8, 4}, Row{100, 60}}) {
    RemovalHold hold;
    Snapshot next = Of(row.after);
    EXPECT_EQ(hold.Apply(next, Of(row.before), SteadyTime{}), std::nullopt);
    EXPECT_EQ(next.agents.size(), static_cast<size_t>(row.after)) << row.before << " -> " << row.after;
    EXPECT_EQ(next.notice, "");
  }
}

TEST(RemovalHoldTest, ALargeOneIsHeldForSixtySecondsAndSaid) {
  RemovalHold hold;
  const SteadyTime start{std::chrono::hours(1)};
  Snapshot last = Of(9);
  Snapshot next = Of(4);
  EXPECT_EQ(hold.Apply(next, last, start), start + std::chrono::seconds(60));
  EXPECT_EQ(next.agents.size(), 9u);
  EXPECT_NE(next.notice.find("5 of 9"), std::string::npos) << next.notice;
  last = next;
  next = Of(4);
  hold.Apply(next, last, start + std::chrono::seconds(59));
  EXPECT_EQ(next.agents.size(), 9u);
  next = Of(4);
  EXPECT_EQ(hold.Apply(next, last, start + std::chrono::seconds(60)), std::nullopt);
  EXPECT_EQ(next.agents.size(), 4u);
}

TEST(RemovalHoldTest, FilesThatComeBackEndTheHoldAndTheNextOneStartsItsOwnMinute) {
  RemovalHold hold;
  const SteadyTime start{std::chrono::hours(1)};
  Snapshot gone;
  hold.Apply(gone, Of(8), start);
  Snapshot back = Of(8);
  EXPECT_EQ(hold.Apply(back, Of(8), start + std::chrono::seconds(50)), std::nullopt);
  Snapshot again;
  hold.Apply(again, Of(8), start + std::chrono::seconds(70));
  EXPECT_EQ(again.agents.size(), 8u);
}

}  // namespace
}  // namespace beige
