#include "operator/reconcile/memory.h"

#include <gtest/gtest.h>

namespace beige {
namespace {
using runtime::Observed;
using runtime::State;
using std::chrono::seconds;
const SteadyTime kNow{std::chrono::hours(10)};

Observed Sandbox(State state, const std::string& started = "t1", const std::string& finished = "") {
  Observed sandbox;
  sandbox.id = "c1";
  sandbox.state = state;
  sandbox.started_at = started;
  sandbox.finished_at = finished;
  sandbox.exit_code = 137;
  return sandbox;
}

TEST(MemoryTest, AnExitIsCountedOnceHoweverOftenItIsSeen) {
  SandboxMemory memory;
  const Observed running = Sandbox(State::kRunning);
  memory = Remember(memory, &running, kNow);
  const Observed exited = Sandbox(State::kExited, "t1", "t2");
  memory = Remember(memory, &exited, kNow + seconds(5));
  memory = Remember(memory, &exited, kNow + seconds(6));
  EXPECT_EQ(memory.restart.total, 1);
  EXPECT_EQ(memory.exit_reason, "Error");
  EXPECT_NE(memory.exit_message.find("137"), std::string::npos);
  const Observed again = Sandbox(State::kExited, "t3", "t4");
  memory = Remember(memory, &again, kNow + seconds(7));
  EXPECT_EQ(memory.restart.total, 2);
  EXPECT_EQ(memory.restart.allowed_at, kNow + seconds(8));
}

TEST(MemoryTest, ALongRunEndsTheSeries) {
  SandboxMemory memory;
  memory.restart.in_a_row = 6;
  const Observed running = Sandbox(State::kRunning);
  memory = Remember(memory, &running, kNow);
  const Observed exited = Sandbox(State::kExited, "t1", "t2");
  memory = Remember(memory, &exited, kNow + seconds(60));
  EXPECT_EQ(memory.restart.in_a_row, 1);
  EXPECT_EQ(memory.restart.allowed_at, kNow + seconds(60));
}

TEST(MemoryTest, OutOfMemoryIsNamed) {
  Observed exited = Sandbox(State::kExited, "t1", "t2");
  exited.oom_killed = true;
  EXPECT_EQ(Remember({}, &exited, kNow).exit_reason, "OOMKilled");
}

TEST(MemoryTest, ARemovalCountsOnceAndAnAgentThatNeverHadASandboxHasNoExit) {
  SandboxMemory memory = Remember({}, nullptr, kNow);
  EXPECT_EQ(memory.restart.total, 0);
  const Observed running = Sandbox(State::kRunning);
  memory = Remember(memory, &running, kNow);
  memory = Remember(memory, nullptr, kNow + seconds(1));
  memory = Remember(memory, nullptr, kNow + seconds(2));
  EXPECT_EQ(memory.restart.total, 1);
  EXPECT_EQ(memory.exit_reason, "Removed");
}

TEST(MemoryTest, OurOwnStopForAMismatchIsNoExit) {
  SandboxMemory memory;
  memory.stopped_for_mismatch = "c1";
  const Observed exited = Sandbox(State::kExited, "t1", "t2");
  EXPECT_EQ(Remember(memory, &exited, kNow).restart.total, 0);
}

TEST(MemoryTest, TheSandboxThatIsAskedForIsChosenBeforeARunningOne) {
  Observed old = Sandbox(State::kRunning, "t9");
  old.id = "old";
  old.spec_hash = "h0";
  Observed asked = Sandbox(State::kCreated);
  asked.id = "asked";
  asked.spec_hash = "h1";
  EXPECT_EQ(ChooseSandbox({old, asked}, "h1")->id, "asked");
  EXPECT_EQ(ChooseSandbox({}, "h1"), nullptr);
}

}  // namespace
}  // namespace beige
