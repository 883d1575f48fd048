#include "cli/supervise/supervisor.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>

#include "base/files.h"
#include "base/spawn.h"
#include "home.h"

namespace beige::cli {
namespace {
using namespace std::chrono_literals;
using beige::testing::Eventually;

class SupervisorTest : public ::testing::Test {
 protected:
  ~SupervisorTest() override { static_cast<void>(RemoveTree(directory_)); }

  Service Shell(const std::string& name, const std::string& script) {
    return {name, directory_ + "/" + name + ".log", [script] { return Result<Launch>(Launch{{"/bin/sh", "-c", script}, CurrentEnvironment(), false}); }};
  }
  std::string Log(const std::string& name) const { return ReadFile(directory_ + "/" + name + ".log").value_or(""); }
  // Steps until child `index` has been started `starts` times and has ended again.
  static void RunUntilEnded(Supervisor& supervisor, int starts, size_t index = 0) {
    for (int i = 0; i < 1000 && (supervisor.state(index).starts < starts || supervisor.state(index).running); ++i) supervisor.RunOnce(5s);
  }

  const std::string directory_ = beige::testing::TemporaryDirectory();
  ManualClock clock_;
};

TEST_F(SupervisorTest, RestartsAtOnceThenOnlyWhenItsTimeHasCome) {
  Supervisor supervisor({Shell("p", "echo started; exit 3")}, clock_);
  RunUntilEnded(supervisor, 2);  // the second start needs no time to pass
  EXPECT_EQ(supervisor.state(0).starts, 2);
  EXPECT_EQ(supervisor.state(0).last_end, "exited with 3");
  supervisor.RunOnce(0ms);
  EXPECT_EQ(supervisor.state(0).starts, 2) << "the third start is due only after 100 ms";
  clock_.Advance(99ms);
  supervisor.RunOnce(0ms);
  EXPECT_EQ(supervisor.state(0).starts, 2);
  clock_.Advance(1ms);
  RunUntilEnded(supervisor, 3);
  EXPECT_EQ(supervisor.state(0).starts, 3);
  EXPECT_EQ(Log("p"), "started\nstarted\nstarted\n");
}

TEST_F(SupervisorTest, StartsAtOnceAgainAfterALongRun) {
  const std::string fifo = directory_ + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  // The third run lasts until the test lets it end.
  Supervisor supervisor({Shell("p", "[ $(wc -l < " + directory_ + "/p.log) = 2 ] && read x < " + fifo + "; echo end; kill -9 $$")}, clock_);
  RunUntilEnded(supervisor, 2);
  EXPECT_EQ(supervisor.state(0).last_end, "killed by signal 9");
  clock_.Advance(100ms);
  supervisor.RunOnce(0ms);
  ASSERT_EQ(supervisor.state(0).starts, 3);
  clock_.Advance(5s);
  { std::ofstream release(fifo); release << "go\n"; }
  RunUntilEnded(supervisor, 4);
  EXPECT_EQ(supervisor.state(0).starts, 4) << "no time has passed since the third run ended";
}

TEST_F(SupervisorTest, OneThatDoesNotStartDoesNotHoldUpTheOther) {
  Service broken = Shell("broken", "");
  broken.prepare = [] { return Result<Launch>(Launch{{"/nonexistent/program"}, {}, false}); };
  Supervisor supervisor({broken, Shell("p", "echo fine; exec sleep 1000")}, clock_);
  ASSERT_TRUE(Eventually([&] {
    supervisor.RunOnce(10ms);
    return Log("p") == "fine\n";
  }));
  EXPECT_FALSE(supervisor.state(0).running);
  EXPECT_NE(supervisor.state(0).last_end.find("/nonexistent/program"), std::string::npos);
  supervisor.Stop(5s);
}

TEST_F(SupervisorTest, StopsInReverseOrderWithSigtermAndKillsWhatDoesNotListen) {
  const std::string order = directory_ + "/order";
  const std::string polite = "trap 'echo $NAME >> " + order + "; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
  Supervisor supervisor({Shell("first", "NAME=first; " + polite), Shell("second", "NAME=second; " + polite), Shell("deaf", "trap '' TERM; echo ready; while :; do sleep 0.01; done")}, clock_);
  ASSERT_TRUE(Eventually([&] {
    supervisor.RunOnce(10ms);
    return Log("first") == "ready\n" && Log("second") == "ready\n" && Log("deaf") == "ready\n";
  }));
  supervisor.Stop(200ms);
  EXPECT_EQ(ReadFile(order).value_or(""), "second\nfirst\n");
  EXPECT_EQ(supervisor.state(2).last_end, "killed by signal 9");
  supervisor.RunOnce(0ms);
  EXPECT_FALSE(supervisor.state(0).running) << "nothing is started after Stop";
}

TEST_F(SupervisorTest, MovesALargeLogAsideAtAStart) {
  ASSERT_TRUE(WriteFileAtomic(directory_ + "/p.log", std::string((16 << 20) + 1, 'x'), 0600));
  Supervisor supervisor({Shell("p", "echo new >&2; exit 0")}, clock_);
  RunUntilEnded(supervisor, 1);
  EXPECT_TRUE(Log("p").starts_with("new\n")) << Log("p").substr(0, 20);
  struct stat st {};
  ASSERT_EQ(::stat((directory_ + "/p.log.1").c_str(), &st), 0);
  EXPECT_EQ(st.st_size, (16 << 20) + 1);
}

TEST_F(SupervisorTest, ProcessesDoNotOutliveTheObject) {
  pid_t pid = 0;
  {
    Supervisor supervisor({Shell("p", "trap '' TERM; exec sleep 1000")}, clock_);
    supervisor.RunOnce(0ms);
    pid = supervisor.state(0).pid;
    ASSERT_GT(pid, 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace beige::cli
