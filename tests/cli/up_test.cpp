#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>

#include "installation.h"
#include "terminal.h"

namespace beige::testing {
namespace {
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(UpTest, DetachReturnsWhenBothAnswer) {
  const Installation beige;
  const Outcome up = beige.Beige({"up", "--detach"}, {"STAND_IN_WORD=passed on"});
  ASSERT_EQ(up.status, 0) << up.err;
  EXPECT_THAT(up.out, MatchesRegex("beige is up: home [^\n]*, HTTP 127.0.0.1:[0-9]+, metrics 127.0.0.1:1 and 127.0.0.1:2, engine docker 20.10.24\n"));
  EXPECT_EQ(Installation::NameOf(beige.Pid("gatewayPid")), "beige-gateway");
  EXPECT_EQ(Installation::NameOf(beige.Pid("operatorPid")), "beige-operator");
  EXPECT_EQ(Installation::NameOf(beige.Pid("pid")), "beige");
  EXPECT_EQ(beige.Json("data/gateway/gateway.json")["pid"], beige.Pid("gatewayPid"));
  EXPECT_EQ(beige.Json("data/gateway/view.json")["environment"], "passed on");
  struct stat st {};
  ASSERT_EQ(::stat(beige.home().path().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777u, 0700u);
  const Outcome status = beige.Beige({"status", "-o", "json"});
  EXPECT_EQ(status.status, 0) << status.err;
  const auto json = nlohmann::json::parse(status.out);
  EXPECT_TRUE(json["running"].get<bool>());
  EXPECT_TRUE(json["gateway"]["ready"].get<bool>());
  EXPECT_EQ(json["gateway"]["httpPort"], beige.Json("data/gateway/gateway.json")["httpPort"]);
  EXPECT_EQ(json["engine"]["version"], "20.10.24");
  EXPECT_EQ(json["privilegeSplit"], beige.Json("run/up.json")["privilegeSplit"]);
}

TEST(UpTest, DetachedHoldsNoDescriptorOfTheCaller) {
  const Installation beige;
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  Program up(beige.Command({"up", "--detach"}), {}, {writer.get()});
  writer.Reset();
  ASSERT_EQ(up.Finish().status, 0) << "Finish itself waits for the end of the program's stdout and stderr";
  pollfd entry{reader.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&entry, 1, 20000), 1) << "somebody still holds the pipe";
  char byte = 0;
  EXPECT_EQ(::read(reader.get(), &byte, 1), 0);
}

TEST(UpTest, ASecondUpIsRefusedAndNamesThePid) {
  const Installation beige;
  ASSERT_EQ(beige.Beige({"up", "--detach"}).status, 0);
  const pid_t pid = beige.Pid("pid");
  for (const std::vector<std::string>& command : {std::vector<std::string>{"up", "--detach"}, {"up"}}) {
    const Outcome second = beige.Beige(command);
    EXPECT_EQ(second.status, 1);
    EXPECT_THAT(second.err, HasSubstr("beige: up: this home is already up (pid " + std::to_string(pid) + ","));
  }
  EXPECT_EQ(Installation::NameOf(pid), "beige");
}

TEST(UpTest, AKilledProcessIsStartedAgainAndTheOtherIsLeftAlone) {
  const Installation beige;
  ASSERT_EQ(beige.Beige({"up", "--detach"}).status, 0);
  const pid_t gateway = beige.Pid("gatewayPid");
  const pid_t operator_pid = beige.Pid("operatorPid");
  ::kill(gateway, SIGKILL);
  ASSERT_TRUE(beige.AnswersWithNewPid("gatewayPid", gateway));
  EXPECT_EQ(beige.Pid("operatorPid"), operator_pid);
  ::kill(operator_pid, SIGKILL);
  ASSERT_TRUE(beige.AnswersWithNewPid("operatorPid", operator_pid));
  EXPECT_EQ(beige.Beige({"status"}).status, 0);
}

TEST(UpTest, DownEndsBothWithSigtermAndIsFineTwice) {
  const Installation beige;
  ASSERT_EQ(beige.Beige({"up", "--detach"}).status, 0);
  const pid_t gateway = beige.Pid("gatewayPid");
  const pid_t operator_pid = beige.Pid("operatorPid");
  const Outcome down = beige.Beige({"down"});
  EXPECT_EQ(down.status, 0) << down.err;
  EXPECT_EQ(Installation::NameOf(gateway), "");
  EXPECT_EQ(Installation::NameOf(operator_pid), "");
  EXPECT_TRUE(beige.home().Has("data/gateway/stopped"));
  EXPECT_TRUE(beige.home().Has("data/operator/stopped"));
  EXPECT_FALSE(beige.home().Has("run/up.json"));
  EXPECT_EQ(beige.Beige({"down"}).status, 0);
  EXPECT_EQ(beige.Beige({"status"}).status, 5);
  EXPECT_THAT(beige.Beige({"down", "--delete-sandboxes"}).out, HasSubstr("deleted 2 sandboxes"));
}

TEST(UpTest, DownTrustsTheKernelAndNotTheTextOfTheLockFile) {
  const Installation beige;
  ASSERT_EQ(beige.Beige({"up", "--detach"}).status, 0);
  const pid_t supervisor = beige.Pid("pid");
  Program bystander({"/bin/sleep", "1000"});
  std::ofstream(beige.home().path() + "/run/up.lock") << bystander.pid() << "\n";  // the gateway may write here
  EXPECT_EQ(beige.Beige({"down"}).status, 0);
  EXPECT_EQ(Installation::NameOf(supervisor), "");
  EXPECT_EQ(Installation::NameOf(bystander.pid()), "sleep");
}

TEST(UpTest, SaysWhyAProcessDoesNotStartAndLeavesNothingBehind) {
  const Installation beige;
  const Outcome gateway = beige.Beige({"up", "--detach"}, {"STAND_IN_FAILS=gateway"});
  EXPECT_EQ(gateway.status, 1);
  EXPECT_THAT(gateway.err, HasSubstr("beige: up: beige-gateway does not start (exited with 1): cannot serve: listen 127.0.0.1:7433: address in use; its log is "));
  const Outcome operator_ = beige.Beige({"up"}, {"STAND_IN_FAILS=operator"});
  EXPECT_EQ(operator_.status, 1);
  EXPECT_THAT(operator_.err, HasSubstr("beige-operator does not start (exited with 70): engine socket: no permission; its log is "));
  EXPECT_EQ(beige.Beige({"status"}).status, 5);
  EXPECT_EQ(beige.Beige({"up", "--detach"}).status, 0) << "the lock is free again";
}

TEST(UpTest, BothEndWithAKilledSupervisorAndALaterUpStartsClean) {
  const Installation beige;
  ASSERT_EQ(beige.Beige({"up", "--detach"}).status, 0);
  const pid_t gateway = beige.Pid("gatewayPid");
  const pid_t operator_pid = beige.Pid("operatorPid");
  ::kill(beige.Pid("pid"), SIGKILL);
  EXPECT_TRUE(Eventually([&] { return Installation::NameOf(gateway).empty() && Installation::NameOf(operator_pid).empty(); }));
  EXPECT_EQ(beige.Beige({"up", "--detach"}).status, 0);
  EXPECT_NE(beige.Pid("gatewayPid"), gateway);
}

TEST(UpTest, InTheForegroundItRunsUntilInterrupted) {
  const Installation beige;
  Program up(beige.Command({"up"}));
  ASSERT_TRUE(up.AwaitOutput("beige is up"));
  const pid_t gateway = beige.Pid("gatewayPid");
  up.Signal(SIGINT);
  const Outcome outcome = up.Finish();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(Installation::NameOf(gateway), "");
}

TEST(UpTest, OnATerminalNeitherProcessHasItAndCtrlCEndsBoth) {
  const Installation beige;
  Terminal terminal;
  terminal.Start(beige.Command({"up"}), {}, true);
  ASSERT_TRUE(terminal.Await("beige is up")) << terminal.output();
  EXPECT_EQ(beige.Json("data/gateway/view.json")["terminal"], false) << "it could type into the person's shell";
  EXPECT_EQ(beige.Json("data/operator/operator.json")["terminal"], false);
  const pid_t gateway = beige.Pid("gatewayPid");
  const pid_t operator_pid = beige.Pid("operatorPid");
  terminal.Type("\x03");
  ASSERT_TRUE(terminal.Await("stopping"));
  EXPECT_EQ(terminal.Wait(), 0);
  EXPECT_EQ(Installation::NameOf(gateway), "");
  EXPECT_EQ(Installation::NameOf(operator_pid), "");
  EXPECT_TRUE(beige.home().Has("data/gateway/stopped")) << "asked to stop, not killed";
  EXPECT_TRUE(beige.home().Has("data/operator/stopped"));
}

TEST(UpTest, AHomeTooLongForItsSocketsIsRefused) {
  const Home home;
  const Outcome up = RunBeige({"up", "--home", home.path() + "/" + std::string(100, 'x')});
  EXPECT_EQ(up.status, 2);
  EXPECT_THAT(up.err, HasSubstr("107"));
}

}  // namespace
}  // namespace beige::testing
