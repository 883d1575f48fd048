// What a job leaves behind, and how everything ends that has to.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <string>

#include "cage.h"

namespace beige::sandbox_test {
namespace {

// A descendant that has left the job's session and its parents, and ignores what can be ignored.
const char* const kEscapee =
    "setsid sh -c 'trap \"\" TERM HUP INT; (setsid sleep 7777 >/dev/null 2>&1 </dev/null &) ; exec sleep 7777 >/dev/null 2>&1' "
    ">/dev/null 2>&1 </dev/null & ";
// Sets n to their number: exact command lines, since scripts that name them have the words in theirs.
const std::string kCount =
    "n=0; for s in /proc/[0-9]*/cmdline; do [ \"$(tr '\\0' ' ' 2>/dev/null <$s)\" = 'sleep 7777 ' ] && n=$((n+1)); done; ";

class TreeTest : public testing::Test {
 protected:
  std::string Escapees() { return cage_.RunShell(kCount + "echo $n").out; }
  // Waits inside the sandbox until there are `count`.
  static std::string Await(int count) { return "while " + kCount + "[ $n -ne " + std::to_string(count) + " ]; do sleep 0.02; done; "; }
  // The death of the two spares may not be known yet: whose job it costs hears so.
  void ServesAgain() {
    for (int i = 0; i < 2; ++i) {
      const Outcome outcome = cage_.RunShell("echo still");
      EXPECT_TRUE(outcome.how == BGE_HOW_LOST || outcome.how == BGE_HOW_SIGNALED || outcome.out == "still\n") << outcome.how << outcome.out;
    }
    for (int i = 0; i < 5; ++i) EXPECT_EQ(cage_.RunShell("echo still").out, "still\n");
  }
  Cage cage_;
};

TEST_F(TreeTest, ADeadlineEndsTheWholeTreeWithATimeout) {
  JobSpec spec = Shell(std::string(kEscapee) + "trap '' TERM; echo up; while :; do sleep 0.1; done");
  spec.deadline_ms = 1500;
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = cage_.Run(spec);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(outcome.how, BGE_HOW_TIMEOUT);
  EXPECT_EQ(outcome.code, 124);
  EXPECT_EQ(outcome.text, "timed out after 1500 ms");
  EXPECT_EQ(outcome.out, "up\n");
  EXPECT_GE(took, std::chrono::milliseconds(3500));  // the grace
  EXPECT_LE(took, std::chrono::milliseconds(20000));
  EXPECT_EQ(Escapees(), "0\n");
}

TEST_F(TreeTest, AJobThatObeysTheDeadlinesSigtermEndsAtOnce) {
  JobSpec spec = Shell("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.02; done");
  spec.deadline_ms = 1000;
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = cage_.Run(spec);
  EXPECT_EQ(outcome.how, BGE_HOW_TIMEOUT);
  EXPECT_EQ(outcome.out, "up\nbye\n");
  EXPECT_LE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(2990));  // less than with the grace
}

TEST_F(TreeTest, SignalNineEndsTheWholeTree) {
  const uint32_t call = cage_.Start(Shell(std::string(kEscapee) + Await(2) + "echo up; sleep 100", 0));
  ASSERT_TRUE(cage_.WaitForOutput(call, "up"));
  EXPECT_EQ(Escapees(), "2\n");
  cage_.control().Send(call, BGE_SIGNAL, std::string(1, SIGKILL));
  const Outcome outcome = cage_.Finish(call);
  EXPECT_EQ(outcome.how, BGE_HOW_SIGNALED);
  EXPECT_EQ(outcome.code, SIGKILL);
  EXPECT_EQ(Escapees(), "0\n");
}

TEST_F(TreeTest, AToolCallsLeftoversEndWithIt) {
  const Outcome outcome = cage_.Run(Shell(std::string(kEscapee) + Await(2) + "exit 6"));
  EXPECT_EQ(outcome.how, BGE_HOW_EXITED);
  EXPECT_EQ(outcome.code, 6);
  EXPECT_EQ(Escapees(), "0\n");
}

TEST_F(TreeTest, APersonsBackgroundJobsStay) {
  const Outcome outcome = cage_.Run(Shell(std::string(kEscapee) + Await(2) + "exit 6", 0));
  EXPECT_EQ(outcome.code, 6);
  EXPECT_EQ(Escapees(), "2\n");
}

TEST_F(TreeTest, ABackgroundChildThatHoldsStdoutDoesNotHoldTheExit) {
  const auto begin = std::chrono::steady_clock::now();
  Outcome outcome = cage_.Run(Shell("sleep 500 & echo done", 0));
  EXPECT_EQ(outcome.out, "done\n");
  EXPECT_EQ(outcome.code, 0);
  outcome = cage_.Run(Shell("sleep 500 & echo done; exit 2"));
  EXPECT_EQ(outcome.out, "done\n");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_LE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(40000));
}

TEST_F(TreeTest, ABackgroundChildsLastWordsStillCount) {
  // 100 ms of silence end the wait, which a stalled machine may exceed.
  std::string out;
  for (int i = 0; i < 20 && out != "early\nlate\n"; ++i) out = cage_.Run(Shell("(sleep 0.03; echo late) & echo early")).out;
  EXPECT_EQ(out, "early\nlate\n");
}

TEST_F(TreeTest, ABackgroundChildThatNeverFallsSilentDoesNotHoldTheExit) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = cage_.Run(Shell("yes & sleep 0.1; exit 8", 0));
  EXPECT_EQ(outcome.code, 8);
  EXPECT_LE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(40000));
  EXPECT_TRUE(cage_.Alive());
}

TEST_F(TreeTest, ABackgroundChildLivesOnWhenItWritesAfterTheExit) {
  const uint32_t call =
      cage_.Start(Shell("trap '' PIPE; (while [ ! -e /tmp/go ]; do sleep 0.02; done; /t/attacker pattern 300000; echo $? >/tmp/result) & exit 0", 0));
  EXPECT_EQ(cage_.Finish(call).code, 0);
  EXPECT_EQ(cage_.RunShell("touch /tmp/go; while [ ! -s /tmp/result ]; do sleep 0.02; done; cat /tmp/result").out, "0\n");
}

TEST_F(TreeTest, AJobThatKillsItsHelperIsLostAndItsTreeDies) {
  const Outcome outcome = cage_.Run(Shell(std::string(kEscapee) + Await(2) + "exec /t/attacker kill-helper", 0));
  EXPECT_EQ(outcome.how, BGE_HOW_LOST);
  EXPECT_EQ(outcome.code, 125);
  // PID 1 hunts orphans beside its other work.
  EXPECT_EQ(cage_.RunShell(Await(0) + "echo none").out, "none\n");
}

TEST_F(TreeTest, AJobThatStopsItsHelperEndsWithItsDeadline) {
  JobSpec spec = Shell("exec /t/attacker stop-helper");
  spec.deadline_ms = 200;
  EXPECT_EQ(cage_.Run(spec).how, BGE_HOW_TIMEOUT);
  EXPECT_EQ(cage_.RunShell("echo next").out, "next\n");
}

TEST_F(TreeTest, OneJobAfterTheOtherIsServedByTheSameHelpers) {
  std::set<std::string> helpers;
  for (int i = 0; i < 20; ++i) helpers.insert(cage_.RunShell("echo $PPID").out);
  EXPECT_LT(helpers.size(), 10u);
  const std::string last = cage_.RunShell("sleep 7777 >/dev/null 2>&1 & echo $PPID").out;
  for (int i = 0; i < 5; ++i) EXPECT_NE(cage_.RunShell("echo $PPID").out, last) << "one that still has a child serves nobody else";
}

TEST_F(TreeTest, WhatWaitsForTheNextJobCanBeKilledAndIsReplaced) {
  EXPECT_EQ(cage_.RunShell("for s in /proc/[0-9]*/stat; do read -r pid name state parent rest <$s; [ \"$name\" = '(beige-job)' ] && [ $parent != 1 ] && "
                           "kill -9 $pid && while [ -e /proc/$pid ]; do :; done; done; echo done").out,
            "done\n");
  ServesAgain();
  EXPECT_EQ(cage_.RunShell("kill -9 -1").how, BGE_HOW_LOST);
  ServesAgain();
}

TEST_F(TreeTest, AProcessThatIsANewOneAllTheTimeIsCaught) {
  const uint32_t call = cage_.Start(Shell("/t/attacker run-away; echo up; sleep 100", 0));
  ASSERT_TRUE(cage_.WaitForOutput(call, "up"));
  cage_.control().Send(call, BGE_SIGNAL, std::string(1, SIGKILL));
  EXPECT_EQ(cage_.Finish(call).how, BGE_HOW_SIGNALED);
  // Nothing of that name is left, nor born again.
  EXPECT_EQ(cage_.RunShell("grep -l attacker /proc/[0-9]*/comm | wc -l").out, "0\n");
}

TEST_F(TreeTest, ReapsAThousandZombies) {
  JobSpec spec;
  spec.argv = {"/t/attacker", "zombies", "1000"};
  EXPECT_EQ(cage_.Run(spec).code, 0);
  EXPECT_EQ(cage_.RunShell("cat /proc/[0-9]*/stat | grep -c ') Z'").out, "0\n");
}

TEST_F(TreeTest, KillAllEndsEverythingButPid1) {
  const uint32_t first = cage_.Start(Shell("echo up; sleep 100", 0));
  const uint32_t second = cage_.Start(Shell(std::string(kEscapee) + "echo up; sleep 100", BGE_FLAG_DETACHED));
  ASSERT_TRUE(cage_.WaitForOutput(first, "up"));
  ASSERT_TRUE(cage_.WaitForOutput(second, "up"));
  cage_.control().Send(0, BGE_KILL_ALL);
  for (const uint32_t call : {first, second}) {
    const Outcome outcome = cage_.Finish(call);
    EXPECT_EQ(outcome.how, BGE_HOW_SIGNALED);
    EXPECT_EQ(outcome.code, SIGKILL);
  }
  EXPECT_EQ(Escapees(), "0\n");
}

TEST(ForkBombTest, FailsNewJobsAtTheLimitAndEndsWithKillAll) {
  if (geteuid() == 0) GTEST_SKIP() << "root has no process limit; the run with --plain-user has";
  CageOptions options;
  options.max_processes = 200;
  Cage cage(options);
  JobSpec bomb_spec;
  bomb_spec.argv = {"/t/attacker", "bomb"};
  const uint32_t bomb = cage.Start(bomb_spec);
  ASSERT_TRUE(cage.WaitForOutput(bomb, "up"));
  // The spares that were made before still serve some.
  bool failed = false;
  for (int i = 0; i < 100 && !failed; ++i) {
    JobSpec spec;
    spec.argv = {"/t/attacker", "noop"};
    const Outcome outcome = cage.Run(spec);
    ASSERT_TRUE(outcome.ended);
    failed = outcome.how == BGE_HOW_FAILED;
    if (failed) {
      EXPECT_EQ(outcome.code, 126);
      EXPECT_EQ(outcome.text, "can't start a process: Resource temporarily unavailable");
    }
  }
  EXPECT_TRUE(failed);
  cage.control().Send(0, BGE_KILL_ALL);
  EXPECT_EQ(cage.Finish(bomb).how, BGE_HOW_SIGNALED);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(cage.RunShell("ls -d /proc/[0-9]* >/dev/null; echo fine").out, "fine\n");
}

TEST(ForkBombTest, EndsByItselfWhenItsHelperIsKilledAndOtherJobsLiveOn) {
  if (geteuid() == 0) GTEST_SKIP() << "root has no process limit; the run with --plain-user has";
  CageOptions options;
  options.max_processes = 200;
  Cage cage(options);
  const uint32_t other = cage.Start(Shell("echo here; read line; echo $line", BGE_FLAG_STDIN | BGE_FLAG_KILL_TREE));
  ASSERT_TRUE(cage.WaitForOutput(other, "here"));
  JobSpec bomb;
  bomb.argv = {"/t/attacker", "lost-bomb"};
  EXPECT_EQ(cage.Run(bomb).how, BGE_HOW_LOST);
  std::string bombs;
  for (int i = 0; i < 200; ++i) {
    bombs = cage.RunShell("n=0; for s in /proc/[0-9]*/cmdline; do [ \"$(tr '\\0' ' ' 2>/dev/null <$s)\" = '/t/attacker lost-bomb ' ] && n=$((n+1)); done; echo $n").out;
    if (bombs == "0\n") break;
  }
  EXPECT_EQ(bombs, "0\n");
  cage.control().Send(other, BGE_STDIN, "alive\n");
  EXPECT_TRUE(cage.WaitForOutput(other, "alive"));
}

}  // namespace
}  // namespace beige::sandbox_test
