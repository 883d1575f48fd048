#include "base/turns.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace beige {
namespace {

class TurnsTest : public ::testing::Test {
 protected:
  // Wants `things` done, each of half a share, and writes its name for each.
  struct Worker final : TurnTaker {
    Worker(TurnsTest& t, Party& p, std::string n, int things) : test(t), party(p), name(std::move(n)), left(things) {}
    ~Worker() override { party.Leave(this); }
    void Come() {
      while (left > 0 && party.Take(Turns::kShare / 2)) Do();
      if (left > 0) party.Wait(this);
    }
    void OnTurn() override {
      party.Owe(Turns::kShare / 2);
      Do();
      if (left > 0) party.Wait(this);
      if (on_turn) on_turn();
    }
    void Do() {
      --left;
      test.done += name;
    }
    TurnsTest& test;
    Party& party;
    std::string name;
    int left;
    std::function<void()> on_turn;
  };
  void RunOut() {
    while (loop.RunOnce(std::chrono::milliseconds(1))) {
    }
  }

  Loop loop;
  Turns turns{loop};
  std::string done;
};

TEST_F(TurnsTest, WhoIsAloneIsNeverHeldUp) {
  Party party(turns);
  Worker worker(*this, party, "a", 100);
  worker.Come();
  RunOut();
  EXPECT_EQ(done, std::string(100, 'a'));
}

TEST_F(TurnsTest, AFloodRestsBetweenItsRoundsWhileSomebodyElseIsAboutWhoWantsLittle) {
  Party flood(turns);
  Worker first(*this, flood, "a", 100);
  first.Come();
  loop.RunOnce(std::chrono::milliseconds(1));  // all that is ready, until nothing is
  EXPECT_EQ(done.size(), 100u) << "alone it never rests";
  Worker second(*this, flood, "b", 100);
  second.on_turn = [] {  // a turn that takes its time, and so a pause that is there to be seen
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1); std::chrono::steady_clock::now() < end;) continue;
  };
  second.Come();
  Party modest(turns);
  ASSERT_TRUE(modest.Take(1));
  loop.RunOnce(std::chrono::milliseconds(1));
  EXPECT_TRUE(turns.rests());
  EXPECT_LT(done.size(), 200u);
  RunOut();
  EXPECT_EQ(done, std::string(100, 'a') + std::string(100, 'b'));
}

TEST_F(TurnsTest, AFloodOfOnePartyGetsOneShareBetweenTwoOfAnother) {
  Party flood(turns);
  Party quiet(turns);
  std::vector<std::unique_ptr<Worker>> flooders;
  for (int i = 0; i < 64; ++i) flooders.push_back(std::make_unique<Worker>(*this, flood, "f", 10));
  Worker one(*this, quiet, "q", 6);
  for (auto& flooder : flooders) flooder->Come();
  EXPECT_EQ(done, "ff") << "one share, then all stand in line";
  one.Come();
  EXPECT_EQ(done, "ffqq") << "its own share was not touched";
  RunOut();
  EXPECT_EQ(done.substr(0, 12), "ffqqffqqffqq");
  EXPECT_EQ(done.size(), 646u);
}

TEST_F(TurnsTest, TheTakersOfOnePartyTakeTurnsInOrderOfComing) {
  Party party(turns);
  Worker a(*this, party, "a", 4);
  Worker b(*this, party, "b", 4);
  Worker c(*this, party, "c", 4);
  for (Worker* worker : {&a, &b, &c}) worker->Come();
  RunOut();
  EXPECT_EQ(done, "aaabcabcbcbc") << "a had the first share to itself";
}

TEST_F(TurnsTest, WhatIsOverTheShareIsOwedToTheNextRounds) {
  Party greedy(turns);
  Party other(turns);
  ASSERT_TRUE(greedy.Take(1));
  greedy.Owe(4 * Turns::kShare);
  Worker late(*this, greedy, "g", 2);
  Worker steady(*this, other, "o", 20);
  late.Come();
  steady.Come();
  RunOut();
  EXPECT_EQ(done.find('g'), 8u) << done;
}

TEST_F(TurnsTest, ATakerOrAPartyMayGoInTheMiddleOfItsTurn) {
  auto party = std::make_unique<Party>(turns);
  auto first = std::make_unique<Worker>(*this, *party, "a", 5);
  auto second = std::make_unique<Worker>(*this, *party, "b", 5);
  first->Come();
  second->Come();
  first->on_turn = [&] {
    second.reset();
    auto keep = std::move(first);  // destroyed at the end of this function, as an owner would
    keep->party.Leave(keep.get());
  };
  RunOut();
  EXPECT_EQ(done, "aaa");
  Worker third(*this, *party, "c", 5);
  auto fourth = std::make_unique<Worker>(*this, *party, "d", 5);
  third.Come();
  fourth->Come();
  fourth.reset();
  RunOut();
  EXPECT_EQ(done, "aaaccccc");
}

}  // namespace
}  // namespace beige
