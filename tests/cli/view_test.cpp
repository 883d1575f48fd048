#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include "base/files.h"
#include "base/unix_socket.h"
#include "installation.h"

namespace beige::testing {
namespace {
using ::testing::HasSubstr;

// A listening socket in the engine's place, in a directory of its own, named by operator.yaml.
class ViewTest : public ::testing::Test {
 protected:
  ViewTest() {
    const std::string socket = directory_ + "/engine.sock";
    listener_ = std::move(ListenUnix(socket, 0666).value());
    beige_.home().Write("operator.yaml", "apiVersion: beige.dev/v1alpha1\nkind: OperatorConfig\nengine: {socket: " + socket + "}\n");
    environment_ = {"STAND_IN_ENGINE=" + socket, "STAND_IN_PARENT=" + std::to_string(::getpid())};
  }
  ~ViewTest() override { static_cast<void>(RemoveTree(directory_)); }

  const std::string directory_ = TemporaryDirectory();
  UniqueFd listener_;
  Installation beige_;
  std::vector<std::string> environment_;
};

TEST_F(ViewTest, TheGatewayReachesNoEngineAndWritesNothingThatTheOperatorObeys) {
  ASSERT_TRUE(CanMakeUserNamespaces()) << "this machine makes no user namespaces: install bubblewrap, or allow them (kernel.unprivileged_userns_clone)";
  const Outcome up = beige_.Beige({"up", "--detach"}, environment_);
  ASSERT_EQ(up.status, 0) << up.err;
  EXPECT_EQ(up.err, "");
  EXPECT_EQ(beige_.Json("run/up.json")["privilegeSplit"], "namespace");
  ASSERT_TRUE(ConnectUnix(directory_ + "/engine.sock")) << "from here it answers";
  const auto view = beige_.Json("data/gateway/view.json");
  EXPECT_EQ(view["engine"], false);
  EXPECT_EQ(view["engineThroughProc"], false) << "by the root directory of a process outside";
  EXPECT_EQ(view["operatorYaml"], false);
  EXPECT_EQ(view["agentsDir"], false);
  EXPECT_EQ(view["dataOperator"], false);
  EXPECT_EQ(view["logs"], true);
  const bool root = ::geteuid() == 0;
  EXPECT_EQ(view["capabilities"], root ? "0000000080000000" : "0000000000000000") << "CAP_SETFCAP at most";
  EXPECT_EQ(view["pidNamespaceLevels"], 1) << "it must see the pids of its peers";
  EXPECT_EQ(view["seesInit"], true);
  EXPECT_EQ(view["devicesToChange"].dump(), "[]") << "the host's own nodes";
  EXPECT_EQ(view["writesToNull"], true);
  EXPECT_EQ(view["disks"].dump(), "[]") << "whoever writes a disk writes everything";
  EXPECT_EQ(view["cell"], "from a cell\n") << "it must be able to make cells";
}

TEST_F(ViewTest, TheViewHoldsAfterARestartOfTheGateway) {
  ASSERT_TRUE(CanMakeUserNamespaces()) << "this machine makes no user namespaces: install bubblewrap, or allow them (kernel.unprivileged_userns_clone)";
  ASSERT_EQ(beige_.Beige({"up", "--detach"}, environment_).status, 0);
  const pid_t gateway = beige_.Pid("gatewayPid");
  ASSERT_TRUE(RemoveFile(beige_.home().path() + "/data/gateway/view.json"));
  ::kill(gateway, SIGKILL);
  ASSERT_TRUE(beige_.AnswersWithNewPid("gatewayPid", gateway));
  EXPECT_EQ(beige_.Json("data/gateway/view.json")["engine"], false);
}

TEST_F(ViewTest, AnotherEngineInOperatorYamlRestartsTheGatewayBehindANewView) {
  ASSERT_TRUE(CanMakeUserNamespaces()) << "this machine makes no user namespaces: install bubblewrap, or allow them (kernel.unprivileged_userns_clone)";
  beige_.home().Write("operator.yaml", "apiVersion: beige.dev/v1alpha1\nkind: OperatorConfig\n");
  ASSERT_EQ(beige_.Beige({"up", "--detach"}, environment_).status, 0);
  ASSERT_EQ(beige_.Json("data/gateway/view.json")["engine"], true) << "nobody knows yet that an engine is there";
  const pid_t gateway = beige_.Pid("gatewayPid");
  beige_.home().Write("operator.yaml", "apiVersion: beige.dev/v1alpha1\nkind: OperatorConfig\nengine: {socket: " + directory_ + "/engine.sock}\n");
  ASSERT_TRUE(beige_.AnswersWithNewPid("gatewayPid", gateway));
  EXPECT_EQ(beige_.Json("data/gateway/view.json")["engine"], false);
  EXPECT_TRUE(beige_.home().Has("data/gateway/stopped")) << "it was asked to stop, not killed";
}

TEST_F(ViewTest, WithoutBubblewrapItStartsAllTheSameAndSaysSo) {
  environment_.push_back("PATH=/nonexistent");
  const Outcome up = beige_.Beige({"up", "--detach"}, environment_);
  ASSERT_EQ(up.status, 0) << up.err;
  EXPECT_THAT(up.err, HasSubstr("privilege split none: bubblewrap is not installed"));
  EXPECT_EQ(beige_.Json("run/up.json")["privilegeSplit"], "none");
  EXPECT_EQ(beige_.Json("data/gateway/view.json")["engine"], true) << "so the words are true";
  EXPECT_THAT(beige_.Beige({"status"}).out, HasSubstr("none: bubblewrap is not installed"));
}

TEST_F(ViewTest, AnEngineSocketInTheHomeItselfCannotBeMasked) {
  const std::string socket = beige_.home().path() + "/engine.sock";
  UniqueFd inside = std::move(ListenUnix(socket, 0666).value());
  beige_.home().Write("operator.yaml", "apiVersion: beige.dev/v1alpha1\nkind: OperatorConfig\nengine: {socket: " + socket + "}\n");
  const Outcome up = beige_.Beige({"up", "--detach"}, environment_);
  ASSERT_EQ(up.status, 0) << up.err;
  EXPECT_THAT(up.err, HasSubstr("privilege split none: an engine's socket lies directly in"));
}

}  // namespace
}  // namespace beige::testing
