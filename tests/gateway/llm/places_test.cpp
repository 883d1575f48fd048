#include "gateway/llm/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace beige::llm {
namespace {
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Ticket = Places::Ticket;
}  // namespace

TEST(PlacesTest, NeverAdmitsMoreThanTheLimit) {
  Places places(2);
  const SteadyTime later = ManualClock().Now() + seconds(60);
  const Ticket a = places.Enter("a", later), b = places.Enter("a", later), c = places.Enter("a", later);
  EXPECT_TRUE(places.Has(a));
  EXPECT_TRUE(places.Has(b));
  EXPECT_FALSE(places.Has(c));
  EXPECT_THAT(places.Leave(a), ElementsAre(c));
  EXPECT_THAT(places.Leave(a), IsEmpty()) << "a place is given back once";
  EXPECT_EQ(places.taken(), 2u);
}

TEST(PlacesTest, AgentsTakeTurns) {
  Places places(1);
  const SteadyTime later = ManualClock().Now() + seconds(60);
  Ticket running = places.Enter("greedy", later);
  std::vector<Ticket> greedy;
  for (int i = 0; i < 3; ++i) greedy.push_back(places.Enter("greedy", later));
  const Ticket modest = places.Enter("modest", later), third = places.Enter("third", later);
  std::vector<Ticket> order;
  for (int i = 0; i < 5; ++i) {
    const auto next = places.Leave(running);
    ASSERT_EQ(next.size(), 1u);
    running = next[0];
    order.push_back(running);
  }
  EXPECT_THAT(order, ElementsAre(greedy[0], modest, third, greedy[1], greedy[2]));
}

TEST(PlacesTest, NobodyOvertakesThoseWhoWait) {
  Places places(1);
  const SteadyTime later = ManualClock().Now() + seconds(60);
  const Ticket a = places.Enter("a", later), b = places.Enter("a", later);
  EXPECT_THAT(places.Leave(a), ElementsAre(b));
  const Ticket c = places.Enter("c", later);
  EXPECT_FALSE(places.Has(c));
}

TEST(PlacesTest, ACancelledWaiterGivesItsTurnUp) {
  Places places(1);
  const SteadyTime later = ManualClock().Now() + seconds(60);
  const Ticket a = places.Enter("a", later), b = places.Enter("b", later), c = places.Enter("c", later);
  EXPECT_THAT(places.Leave(b), IsEmpty());
  EXPECT_EQ(places.waiting(), 1u);
  EXPECT_THAT(places.Leave(a), ElementsAre(c));
}

TEST(PlacesTest, WaitingEndsAtTheDeadline) {
  ManualClock clock;
  Places places(1);
  places.Enter("a", clock.Now() + seconds(60));
  const Ticket b = places.Enter("b", clock.Now() + seconds(5)), c = places.Enter("c", clock.Now() + seconds(9));
  EXPECT_EQ(places.NextDeadline(), clock.Now() + seconds(5));
  EXPECT_THAT(places.Expire(clock.Now()), IsEmpty());
  clock.Advance(seconds(5));
  EXPECT_THAT(places.Expire(clock.Now()), ElementsAre(b));
  clock.Advance(seconds(5));
  EXPECT_THAT(places.Expire(clock.Now()), ElementsAre(c));
  EXPECT_EQ(places.NextDeadline(), std::nullopt);
}

TEST(PlacesTest, WithALimitOfZeroEverybodyWaitsAndNobodyForEver) {
  ManualClock clock;
  Places places(0);
  const Ticket a = places.Enter("a", clock.Now() + seconds(5));
  EXPECT_FALSE(places.Has(a));
  clock.Advance(seconds(5));
  EXPECT_THAT(places.Expire(clock.Now()), ElementsAre(a));
}

TEST(PlacesTest, ARaisedLimitAdmitsAtOnceAndALoweredTakesNothing) {
  Places places(1);
  const SteadyTime later = ManualClock().Now() + seconds(60);
  const Ticket a = places.Enter("a", later), b = places.Enter("b", later), c = places.Enter("c", later);
  EXPECT_THAT(places.SetLimit(3), ElementsAre(b, c));
  EXPECT_THAT(places.SetLimit(1), IsEmpty());
  EXPECT_EQ(places.taken(), 3u);
  const Ticket d = places.Enter("d", later);
  EXPECT_THAT(places.Leave(a), IsEmpty());
  EXPECT_THAT(places.Leave(b), IsEmpty());
  EXPECT_THAT(places.Leave(c), ElementsAre(d));
}

TEST(PlacesTest, AnyOrderOfComingAndGoingKeepsTheBooks) {
  std::mt19937 random(7);
  ManualClock clock;
  Places places(3);
  std::vector<Ticket> known;
  for (int i = 0; i < 20'000; ++i) {
    switch (random() % 4) {
      case 0:
      case 1: known.push_back(places.Enter(std::string(1, static_cast<char>('a' + random() % 5)), clock.Now() + seconds(random() % 20))); break;
      case 2:
        if (!known.empty()) {
          const size_t at = random() % known.size();
          places.Leave(known[at]);
          known.erase(known.begin() + static_cast<long>(at));
        }
        break;
      default:
        clock.Advance(seconds(1));
        for (const Ticket ticket : places.Expire(clock.Now())) std::erase(known, ticket);
    }
    ASSERT_LE(places.taken(), 3u);
    ASSERT_EQ(places.taken() + places.waiting(), known.size());
    ASSERT_TRUE(places.waiting() == 0 || places.taken() == 3) << "somebody waits beside a free place";
  }
}

}  // namespace beige::llm
