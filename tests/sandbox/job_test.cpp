// One job: its status, streams, terminal, failures.
#include <gtest/gtest.h>
#include <signal.h>

#include "cage.h"

namespace beige::sandbox_test {
namespace {

class JobTest : public testing::Test {
 protected:
  Cage cage_;
};

TEST_F(JobTest, ReportsExitStatusesTruly) {
  for (const int code : {0, 1, 7, 126, 127, 255}) {
    const Outcome outcome = cage_.RunShell("exit " + std::to_string(code));
    EXPECT_EQ(outcome.how, BGE_HOW_EXITED);
    EXPECT_EQ(outcome.code, code);
  }
}

TEST_F(JobTest, ReportsDeathBySignalAsSuch) {
  for (const int number : {SIGKILL, SIGTERM, SIGSEGV, SIGPIPE}) {
    const Outcome outcome = cage_.RunShell("kill -" + std::to_string(number) + " $$");
    EXPECT_EQ(outcome.how, BGE_HOW_SIGNALED);
    EXPECT_EQ(outcome.code, number);
  }
}

TEST_F(JobTest, FindsProgramsOnTheJobsOwnPath) {
  JobSpec spec;
  spec.argv = {"attacker", "pattern", "1"};
  EXPECT_EQ(cage_.Run(spec).code, 127);
  spec.env = {"PATH=/nowhere:/t"};
  EXPECT_EQ(cage_.Run(spec).code, 0);
}

TEST_F(JobTest, SaysWhyAProgramCouldNotBeStarted) {
  JobSpec spec;
  spec.argv = {"no-such-program"};
  Outcome outcome = cage_.Run(spec);
  EXPECT_EQ(outcome.how, BGE_HOW_FAILED);
  EXPECT_EQ(outcome.code, 127);
  EXPECT_EQ(outcome.text, "no-such-program: not found in PATH");
  spec.argv = {"/no/such/program"};
  EXPECT_EQ(cage_.Run(spec).code, 127);
  spec.argv = {"/usr/lib"};
  outcome = cage_.Run(spec);
  EXPECT_EQ(outcome.code, 126);
  EXPECT_EQ(outcome.text, "/usr/lib: Permission denied");
  spec.argv = {"true"};
  spec.cwd = "/no/such/directory";
  outcome = cage_.Run(spec);
  EXPECT_EQ(outcome.code, 126);
  EXPECT_EQ(outcome.text, "/no/such/directory: No such file or directory");
  spec.cwd.clear();
  spec.argv = {"echo", std::string("a\0b", 3)};
  EXPECT_EQ(cage_.Run(spec).how, BGE_HOW_FAILED);
  spec.argv = {};
  EXPECT_EQ(cage_.Run(spec).code, 125);
}

TEST_F(JobTest, RunsAScriptWithoutAMagicNumberAsAShellDoes) {
  const Outcome outcome = cage_.RunShell("echo 'echo script $1' >/tmp/script; chmod +x /tmp/script");
  ASSERT_EQ(outcome.code, 0);
  JobSpec spec;
  spec.argv = {"/tmp/script", "argument"};
  EXPECT_EQ(cage_.Run(spec).out, "script argument\n");
}

TEST_F(JobTest, GivesTheBaseEnvironmentWithOverridesAndNothingElse) {
  JobSpec spec = Shell("env | grep -v ^PWD= | grep -v ^SHLVL= | grep -v ^_= | sort; pwd");
  spec.env = {"ADDED=1", "BASE=changed", "ADDED=2", "malformed"};
  spec.cwd = "/usr/lib";
  EXPECT_EQ(cage_.Run(spec).out, "ADDED=2\nBASE=changed\nPATH=/tools/bin:/usr/bin:/bin\n/usr/lib\n");
}

TEST_F(JobTest, PassesManyAndLongArguments) {
  JobSpec spec;
  spec.argv = {"/bin/sh", "-c", "echo $# ${#1} ${#2000}", "sh"};
  for (int i = 0; i < 2000; ++i) spec.argv.push_back(std::string(i == 0 ? 100000 : 400, 'x'));
  EXPECT_EQ(cage_.Run(spec).out, "2000 100000 400\n");
}

TEST_F(JobTest, KeepsStdoutAndStderrApart) {
  const Outcome outcome = cage_.RunShell("echo out; echo err >&2; echo out2");
  EXPECT_EQ(outcome.out, "out\nout2\n");
  EXPECT_EQ(outcome.err, "err\n");
}

TEST_F(JobTest, PassesBinaryOutputUnchanged) {
  JobSpec spec;
  spec.argv = {"/t/attacker", "pattern", "300001"};
  std::string want;
  for (long i = 0; i < 300001; ++i) want += static_cast<char>(i * 131 >> 3 & 0xff);
  EXPECT_EQ(cage_.Run(spec).out, want);
}

TEST_F(JobTest, WithoutTheStdinFlagStdinIsDevNull) {
  EXPECT_EQ(cage_.RunShell("readlink /proc/self/fd/0; cat").out, "/dev/null\n");
}

TEST_F(JobTest, PassesStdinAndItsEnd) {
  const uint32_t call = cage_.Start(Shell("cat; echo end", BGE_FLAG_STDIN));
  cage_.control().Send(call, BGE_STDIN, std::string("a\0b", 3));
  cage_.control().Send(call, BGE_STDIN, "c\n");
  cage_.control().Send(call, BGE_STDIN);
  EXPECT_EQ(cage_.Finish(call).out, std::string("a\0bc\nend\n", 9));
}

TEST_F(JobTest, PassesMuchInputWithinItsWindow) {
  const uint32_t call = cage_.Start(Shell("cat >/dev/null; echo took", BGE_FLAG_STDIN));
  const std::string block(BGE_CHUNK, 'x');
  uint64_t sent = 0, credit = BGE_WINDOW_INITIAL;
  while (sent < 1000 * BGE_CHUNK) {
    while (credit < BGE_CHUNK) {
      const auto frame = cage_.control().Next();
      ASSERT_TRUE(frame);
      if (frame->kind == BGE_WINDOW) credit += ReadU32(frame->payload);
    }
    ASSERT_TRUE(cage_.control().Send(call, BGE_STDIN, block));
    credit -= BGE_CHUNK;
    sent += BGE_CHUNK;
  }
  cage_.control().Send(call, BGE_STDIN);
  EXPECT_EQ(cage_.Finish(call).out, "took\n");
}

TEST_F(JobTest, HoldsInputBackFromAJobThatDoesNotRead) {
  const uint32_t call = cage_.Start(Shell("sleep 100", BGE_FLAG_STDIN));
  for (int i = 0; i < 2; ++i) cage_.control().Send(call, BGE_STDIN, std::string(BGE_CHUNK, 'x'));
  // The pipe takes one window; another one stays in PID 1, uncredited.
  uint64_t credit = 0;
  while (credit < BGE_WINDOW_INITIAL) {
    const auto frame = cage_.control().Next();
    ASSERT_TRUE(frame);
    if (frame->kind == BGE_WINDOW) credit += ReadU32(frame->payload);
  }
  for (int i = 0; i < 2; ++i) cage_.control().Send(call, BGE_STDIN, std::string(BGE_CHUNK, 'x'));
  EXPECT_TRUE(cage_.Alive());
  // More than the window breaks the protocol, and ends this job.
  cage_.control().Send(call, BGE_STDIN, "x");
  const Outcome outcome = cage_.Finish(call);
  EXPECT_EQ(outcome.how, BGE_HOW_FAILED);
  EXPECT_EQ(outcome.code, 125);
  EXPECT_TRUE(cage_.Alive());
}

TEST_F(JobTest, InputForAJobThatHasClosedItsStdinIsTakenAndDropped) {
  const uint32_t call = cage_.Start(Shell("exec <&-; trap 'echo done; exit' USR1; echo closed; while :; do sleep 0.02; done", BGE_FLAG_STDIN));
  ASSERT_TRUE(cage_.WaitForOutput(call, "closed"));
  for (int i = 0; i < 2; ++i) cage_.control().Send(call, BGE_STDIN, std::string(BGE_CHUNK, 'x'));
  cage_.control().Send(call, BGE_STDIN);
  cage_.control().Send(call, BGE_SIGNAL, std::string(1, SIGUSR1));
  const Outcome outcome = cage_.Finish(call);
  EXPECT_EQ(outcome.out, "closed\ndone\n");
  EXPECT_GE(outcome.input_credit, static_cast<uint64_t>(BGE_CHUNK));
}

TEST_F(JobTest, ASlowReaderHoldsTheJobWithinItsWindow) {
  JobSpec spec;
  spec.argv = {"/t/attacker", "pattern", "20000000"};
  const uint32_t call = cage_.Start(spec);
  size_t got = 0;
  while (got < BGE_WINDOW_INITIAL) {
    const auto frame = cage_.control().Next();
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame->kind, BGE_STDOUT);
    got += frame->payload.size();
  }
  EXPECT_EQ(got, static_cast<size_t>(BGE_WINDOW_INITIAL));
  // Without credit nothing more comes for this job, while others run.
  EXPECT_EQ(cage_.RunShell("echo other").out, "other\n");
  cage_.control().Send(call, BGE_WINDOW, U32(1), 1);
  auto frame = cage_.control().Next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->payload.size(), 1u);
  cage_.control().Send(call, BGE_WINDOW, U32(BGE_WINDOW_INITIAL), 1);
  const Outcome rest = cage_.Finish(call);
  EXPECT_EQ(rest.out.size() + got + 1, 20000000u);
  EXPECT_EQ(rest.how, BGE_HOW_EXITED);
}

TEST_F(JobTest, KeepsTheExitUntilAllOutputIsTaken) {
  const uint32_t call = cage_.Start(Shell("/t/attacker pattern 100000; exit 4"));
  size_t got = 0;
  while (got < BGE_WINDOW_INITIAL) {
    const auto frame = cage_.control().Next();
    ASSERT_TRUE(frame);
    got += frame->payload.size();
  }
  EXPECT_TRUE(cage_.Alive());
  cage_.control().Send(call, BGE_WINDOW, U32(BGE_WINDOW_INITIAL), 1);
  const Outcome rest = cage_.Finish(call);
  EXPECT_EQ(rest.out.size() + got, 100000u);
  EXPECT_EQ(rest.code, 4);
}

TEST_F(JobTest, AnnouncesThePidOfAJobOfAPerson) {
  const Outcome outcome = cage_.Run(Shell("echo $$", 0));
  EXPECT_EQ(outcome.out, std::to_string(outcome.started_pid) + "\n");
}

TEST_F(JobTest, SignalsReachTheWholeProcessGroup) {
  const uint32_t call =
      cage_.Start(Shell("trap 'echo parent' USR1; sh -c 'trap \"echo child; exit\" USR1; echo up; while :; do sleep 0.02; done' & "
                        "wait; wait; exit 5"));
  ASSERT_TRUE(cage_.WaitForOutput(call, "up"));
  cage_.control().Send(call, BGE_SIGNAL, std::string(1, SIGUSR1));
  const Outcome outcome = cage_.Finish(call);
  EXPECT_NE(outcome.out.find("parent\n"), std::string::npos);
  EXPECT_NE(outcome.out.find("child\n"), std::string::npos);
  EXPECT_EQ(outcome.code, 5);
}

TEST_F(JobTest, ASignalThatComesWithTheJobIsNotLost) {
  for (int i = 0; i < 50; ++i) {
    const uint32_t call = cage_.Start(Shell("sleep 100"));
    cage_.control().Send(call, BGE_SIGNAL, std::string(1, SIGTERM));
    const Outcome outcome = cage_.Finish(call);
    ASSERT_EQ(outcome.how, BGE_HOW_SIGNALED);
    ASSERT_EQ(outcome.code, SIGTERM);
  }
}

TEST_F(JobTest, ATerminalHasItsSizeAndFollowsResizes) {
  JobSpec spec = Shell("stty size; test -t 0 && test -t 1 && test -t 2 && tty; read line; echo \"got $line\"; stty size; read line || echo end",
                       BGE_FLAG_STDIN);
  spec.tty = true;
  spec.columns = 101;
  spec.rows = 33;
  const uint32_t call = cage_.Start(spec);
  ASSERT_TRUE(cage_.WaitForOutput(call, "33 101\r\n/dev/pts/"));
  cage_.control().Send(call, BGE_RESIZE, U32(120 | 40 << 16));
  cage_.control().Send(call, BGE_STDIN, "line\r");
  ASSERT_TRUE(cage_.WaitForOutput(call, "got line\r\n40 120\r\n"));
  cage_.control().Send(call, BGE_STDIN);
  ASSERT_TRUE(cage_.WaitForOutput(call, "end\r\n"));
  const Outcome outcome = cage_.Finish(call);
  EXPECT_EQ(outcome.how, BGE_HOW_EXITED);
  EXPECT_EQ(outcome.code, 0);
}

TEST_F(JobTest, AResizeIsSignalledToTheForeground) {
  JobSpec spec = Shell("trap 'stty size; exit 3' WINCH; echo up; while :; do sleep 0.02; done");
  spec.tty = true;
  const uint32_t call = cage_.Start(spec);
  ASSERT_TRUE(cage_.WaitForOutput(call, "up"));
  cage_.control().Send(call, BGE_RESIZE, U32(90 | 20 << 16));
  const Outcome outcome = cage_.Finish(call);
  EXPECT_EQ(outcome.out, "up\r\n20 90\r\n");
  EXPECT_EQ(outcome.code, 3);
}

TEST_F(JobTest, ControlCInATerminalReachesTheForeground) {
  // With a trap: dash can lose the signal between vfork and exec.
  JobSpec spec = Shell("trap 'echo interrupted; exit 9' INT; echo up; while :; do sleep 0.02; done", BGE_FLAG_STDIN);
  spec.tty = true;
  const uint32_t call = cage_.Start(spec);
  ASSERT_TRUE(cage_.WaitForOutput(call, "up"));
  cage_.control().Send(call, BGE_STDIN, "\x03");
  const Outcome outcome = cage_.Finish(call);
  EXPECT_EQ(outcome.code, 9) << outcome.out;
  EXPECT_NE(outcome.out.find("interrupted\r\n"), std::string::npos) << outcome.out;
}

TEST_F(JobTest, RunsManyJobsAtOnceAndKeepsTheirOutputsApart) {
  std::vector<uint32_t> calls;
  for (int i = 0; i < 60; ++i) calls.push_back(cage_.Start(Shell("sleep 0.2; echo job " + std::to_string(i) + "; exit " + std::to_string(i))));
  for (int i = 0; i < 60; ++i) {
    const Outcome outcome = cage_.Finish(calls[static_cast<size_t>(i)]);
    EXPECT_EQ(outcome.out, "job " + std::to_string(i) + "\n");
    EXPECT_EQ(outcome.code, i);
  }
}

TEST_F(JobTest, RefusesMoreJobsThanItHasRoomForAndServesAgainLater) {
  std::vector<uint32_t> calls;
  int refused = 0;
  for (int i = 0; i < 270; ++i) {
    JobSpec spec;
    spec.argv = {"sleep", "100"};
    calls.push_back(cage_.Start(spec));
  }
  ASSERT_TRUE(cage_.Alive());
  for (const uint32_t call : calls) cage_.control().Send(call, BGE_SIGNAL, std::string(1, SIGKILL));
  for (const uint32_t call : calls) {
    const Outcome outcome = cage_.Finish(call);
    ASSERT_TRUE(outcome.ended);
    if (outcome.how == BGE_HOW_FAILED) {
      EXPECT_EQ(outcome.code, 126);
      ++refused;
    } else {
      EXPECT_EQ(outcome.how, BGE_HOW_SIGNALED);
    }
  }
  EXPECT_GE(refused, 14);
  EXPECT_EQ(cage_.RunShell("echo after").out, "after\n");
}

}  // namespace
}  // namespace beige::sandbox_test
