// PID 1 against the code that it runs.
#include <gtest/gtest.h>

#include <sstream>

#include "cage.h"

namespace beige::sandbox_test {
namespace {

Outcome Attack(Cage& cage, const std::string& mode) {
  JobSpec spec;
  spec.argv = {"/t/attacker", mode};
  return cage.Run(spec);
}

class ProtectionTest : public testing::TestWithParam<bool> {
 protected:
  static CageOptions Options() {
    CageOptions options;
    options.runner = GetParam();
    return options;
  }
  Cage cage_{Options()};
};

TEST_P(ProtectionTest, RefusesCallsThatTargetPid1InEveryCallingConvention) {
  std::istringstream lines(Attack(cage_, "pid1").out);
  std::string line;
  int seen = 0;
  while (std::getline(lines, line)) {
    ++seen;
    // A kernel without i386 or x32 has nothing to refuse.
    const bool absent = (line.rfind("x32", 0) == 0 || line.rfind("i386", 0) == 0) && line.find("not implemented") != std::string::npos;
    EXPECT_TRUE(absent || (line.size() > 7 && line.substr(line.size() - 7) == ": EPERM")) << line;
  }
  EXPECT_GE(seen, 14);
  EXPECT_TRUE(cage_.Alive());
}

TEST_P(ProtectionTest, AllowsTheSameOnOneselfAndOnesOwnChild) {
  std::istringstream lines(Attack(cage_, "own").out);
  std::string line;
  int seen = 0;
  while (std::getline(lines, line)) {
    ++seen;
    EXPECT_NE(line.find(": allowed"), std::string::npos) << line;
  }
  EXPECT_EQ(seen, 11);
}

TEST_P(ProtectionTest, ShowsNothingOfPid1) {
  EXPECT_EQ(Attack(cage_, "files").out,
            "/proc/1/mem: refused\n/proc/1/environ: refused\n/proc/1/exe: refused\n/proc/1/maps: refused\n"
            "/beige/bin/beige-sandbox: refused\n/proc/1/fd: refused\n");
}

TEST_P(ProtectionTest, IgnoresSignalsFromInsideEvenWithTheSignalQueueFull) {
  const Outcome outcome = Attack(cage_, "signals");
  EXPECT_EQ(outcome.out,
            "kill: EPERM\ntkill: EPERM\ntgkill: EPERM\nsigqueue: EPERM\nkill -9: EPERM\nkill -STOP: EPERM\ni386 kill: EPERM\n"
            "pidfd: sent\npidfd, forged: sent\nown queue: full after some\npidfd, queue full: sent\n");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(cage_.Alive());
  EXPECT_EQ(cage_.RunShell("echo still").out, "still\n");
}

TEST_P(ProtectionTest, OffersJobsToTheOomKillerBeforePid1) {
  EXPECT_EQ(cage_.RunShell("cat /proc/self/oom_score_adj /proc/1/oom_score_adj").out.rfind("700\n", 0), 0u);
  EXPECT_NE(cage_.RunShell("cat /proc/1/oom_score_adj").out, "700\n");
}

TEST_P(ProtectionTest, JobsHaveNoPrivilegesToGainAndNoDescriptorsOfPid1) {
  EXPECT_EQ(cage_.RunShell("grep -e NoNewPrivs -e 'CapEff' -e 'Seccomp:' /proc/self/status | tr -d '\\t'").out,
            "CapEff:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n");
  EXPECT_EQ(cage_.RunShell("ls /proc/$$/fd").out, "0\n1\n2\n");
  EXPECT_EQ(cage_.RunShell("grep -e SigBlk -e SigIgn /proc/$$/status | tr -d '\\t'").out, "SigBlk:0000000000000000\nSigIgn:0000000000000000\n");
}

// gVisor can't start a program that it can't read, so there the binary is readable.
TEST(ReadableBinaryTest, StillShowsNothingOfPid1) {
  CageOptions options;
  options.binary_mode = 0555;
  Cage cage(options);
  EXPECT_EQ(Attack(cage, "files").out,
            "/proc/1/mem: refused\n/proc/1/environ: refused\n/proc/1/exe: refused\n/proc/1/maps: refused\n"
            "/beige/bin/beige-sandbox: read\n/proc/1/fd: refused\n");
}

INSTANTIATE_TEST_SUITE_P(InitAndRunner, ProtectionTest, testing::Bool(), [](const auto& which) { return which.param ? "Runner" : "Init"; });

TEST(RunnerTest, RunsJobsOverAnInheritedDescriptor) {
  CageOptions options;
  options.runner = true;
  Cage cage(options);
  EXPECT_EQ(FieldsOf(cage.hello(), BGE_TAG_KEY).size(), 1u);
  EXPECT_EQ(cage.RunShell("echo cell; exit 3").out, "cell\n");
  const uint32_t call = cage.Start(Shell("cat", BGE_FLAG_STDIN));
  cage.control().Send(call, BGE_STDIN, "in");
  cage.control().Send(call, BGE_STDIN);
  EXPECT_EQ(cage.Finish(call).out, "in");
}

class CellFilterTest : public testing::Test {
 protected:
  static CageOptions Runner() {
    CageOptions options;
    options.runner = true;
    return options;
  }
  Cage cage_{Runner()};
};

TEST_F(CellFilterTest, RefusesNamespacesMountsAndWhatNoNamespaceDivides) {
  std::istringstream lines(Attack(cage_, "leave").out);
  std::string line;
  int seen = 0;
  while (std::getline(lines, line)) {
    ++seen;
    EXPECT_TRUE(line.size() > 7 && line.substr(line.size() - 7) == ": EPERM") << line;
  }
  EXPECT_GE(seen, 47);
}

TEST_F(CellFilterTest, LeavesWhatToolsNeed) {
  EXPECT_EQ(Attack(cage_, "stay").out, "clone3: Function not implemented\nfamily 1\nfamily 2\nfamily 10\nfamily 16\nfork: allowed\n");
  EXPECT_EQ(cage_.RunShell("a=$(echo x | tr x y); (echo $a) & wait; echo z >/dev/null; echo w >/tmp/f && mkdir /tmp/d && mv /tmp/f /tmp/d/g && cat /tmp/d/g").out, "y\nw\n");
}

TEST_F(CellFilterTest, BoundsMemoryAndProcesses) {
  EXPECT_EQ(cage_.RunShell("ulimit -Hd; ulimit -Hc").out, "2097152\n0\n");
  EXPECT_EQ(cage_.RunShell("grep 'Max processes' /proc/self/limits | tr -s ' ' | cut -d' ' -f4").out, "512\n");
}

TEST(RunnerTest, EndsWithEverythingWhenTheStreamCloses) {
  CageOptions options;
  options.runner = true;
  Cage cage(options);
  const uint32_t call = cage.Start(Shell("trap '' TERM HUP; echo up; setsid sleep 100", BGE_FLAG_DETACHED));
  ASSERT_TRUE(cage.WaitForOutput(call, "up"));
  cage.Disconnect();
  EXPECT_TRUE(cage.Ends());
}

}  // namespace
}  // namespace beige::sandbox_test
