#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

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

  // What the running gateway sees now.
  nlohmann::json LookAgain() {
    const int before = beige_.Json("data/gateway/view.json").value("looks", 0);
    ::kill(beige_.Pid("gatewayPid"), SIGUSR1);
    EXPECT_TRUE(Eventually([&] {
      const auto view = beige_.Json("data/gateway/view.json");
      return view.is_object() && view.value("looks", 0) > before;
    }));
    return beige_.Json("data/gateway/view.json");
  }

  // Not among the places that are hidden whatever they hold, and open to a gateway of any uid.
  static std::string VisibleDirectory() {
    std::string name = (::geteuid() == 0 ? std::string("/var/lib") : std::string(std::getenv("HOME"))) + "/bcli-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr || ::chmod(name.c_str(), 0755) != 0) std::abort();
    return name;
  }
  const std::string directory_ = VisibleDirectory();
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
  EXPECT_EQ(view["capabilities"], root ? "00000000800000c0" : "0000000000000000") << "at most CAP_SETFCAP, CAP_SETUID and CAP_SETGID";
  EXPECT_EQ(beige_.Json("run/up.json").value("privilegeReason", ""), "");
  EXPECT_EQ(view["kernelSettings"].dump(), "[]") << "who is root of the host writes them without any capability";
  if (root) {
    EXPECT_EQ(view["signals"].dump(), "[]") << "a uid of its own reaches nobody else's process";
    EXPECT_EQ(view["shadow"], false);
  }
  EXPECT_EQ(view["pidNamespaceLevels"], 1) << "it must see the pids of its peers";
  EXPECT_EQ(view["seesInit"], true);
  EXPECT_EQ(view["devicesToChange"].dump(), "[]") << "the host's own nodes";
  EXPECT_EQ(view["writesToNull"], true);
  EXPECT_EQ(view["disks"].dump(), "[]") << "whoever writes a disk writes everything";
  EXPECT_EQ(view["cell"], "from a cell\n") << "it must be able to make cells";
}

TEST_F(ViewTest, AHomeAndAToolInADirectoryThatOnlyRootMayPassAreServedAndTheRestOfItIsNotSeen) {
  if (::geteuid() != 0) GTEST_SKIP() << "the gateway of a plain user has its uid";
  std::string top = "/var/lib/broot-XXXXXX";  // 0700, as /root is
  ASSERT_NE(::mkdtemp(top.data()), nullptr);
  ASSERT_TRUE(MakeDirs(top + "/tools/hello", 0700));
  ASSERT_TRUE(WriteFileAtomic(top + "/tools/hello/secret", "x", 0600));
  ASSERT_TRUE(WriteFileAtomic(top + "/private", "x", 0644));
  ASSERT_TRUE(MakeDirs(top + "/home", 0700));
  ASSERT_TRUE(WriteFileAtomic(top + "/home/gateway.yaml", "apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\ntools: {hello: {path: " + top + "/tools/hello}}\n", 0600));
  const auto beige = [&](std::vector<std::string> arguments, const std::vector<std::string>& environment) {
    auto command = beige_.Command(std::move(arguments));
    command[2] = top + "/home";
    return Program(command, environment).Finish(std::chrono::seconds(60));
  };
  const Outcome up = beige({"up", "--detach"}, {"STAND_IN_NAMED=" + top + "/home/gateway.yaml:" + top + "/tools/hello/secret:" + top + "/private"});
  EXPECT_EQ(up.status, 0) << up.err;
  EXPECT_EQ(up.err, "") << "it has a uid of its own";
  const auto view = nlohmann::json::parse(ReadFile(top + "/home/data/gateway/view.json").value_or(""), nullptr, false);
  EXPECT_EQ(view["named"], 2) << view;
  EXPECT_EQ(view["logs"], true);
  EXPECT_EQ(view["operatorYaml"], false);
  struct stat info {};
  ASSERT_EQ(::stat((top + "/home/data/gateway/view.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 0u) << "on disk all stays root's";
  EXPECT_EQ(beige({"down"}, {}).status, 0);
  static_cast<void>(RemoveTree(top));
}

TEST_F(ViewTest, OnAFileSystemWithoutIdmappedMountsTheGatewayStaysRootAndUpAndStatusSaySo) {
  if (::geteuid() != 0) GTEST_SKIP() << "the gateway of a plain user has its uid";
  std::string top = "/var/lib/bram-XXXXXX";
  ASSERT_NE(::mkdtemp(top.data()), nullptr);
  ASSERT_EQ(::mount("ramfs", top.c_str(), "ramfs", 0, nullptr), 0) << std::strerror(errno);
  const auto beige = [&](std::vector<std::string> arguments) {
    auto command = beige_.Command(std::move(arguments));
    command[2] = top + "/home";
    return Program(command, environment_).Finish(std::chrono::seconds(60));
  };
  const Outcome up = beige({"up", "--detach"});
  EXPECT_EQ(up.status, 0) << up.err;
  EXPECT_THAT(up.err, HasSubstr("runs as root in its view"));
  EXPECT_THAT(up.err, HasSubstr("idmapped"));
  EXPECT_THAT(beige({"status"}).out, HasSubstr("namespace: the gateway runs as root in its view"));
  const auto view = nlohmann::json::parse(ReadFile(top + "/home/data/gateway/view.json").value_or(""), nullptr, false);
  EXPECT_EQ(view["operatorYaml"], false) << "the rest of the view holds";
  EXPECT_EQ(view["cell"], "from a cell\n");
  EXPECT_EQ(beige({"down"}).status, 0);
  EXPECT_EQ(::umount(top.c_str()), 0) << std::strerror(errno);
  EXPECT_EQ(::rmdir(top.c_str()), 0);
}

TEST_F(ViewTest, SocketsOfOtherProgramsAreOutOfReachAndWhatTheConfigurationNamesBesideThemIsNot) {
  ASSERT_TRUE(CanMakeUserNamespaces()) << "this machine makes no user namespaces: install bubblewrap, or allow them (kernel.unprivileged_userns_clone)";
  for (const char* place : {"/tmp", "/var/tmp"}) {
    SCOPED_TRACE(place);
    std::string top = std::string(place) + "/bview-XXXXXX";
    ASSERT_NE(::mkdtemp(top.data()), nullptr);
    const UniqueFd tmux = std::move(ListenUnix(top + "/default", 0600).value());
    const std::string tool = top + "/tools/hello";
    ASSERT_TRUE(MakeDirs(tool, 0755));
    ASSERT_TRUE(MakeDirs(top + "/secrets", 0755));
    ASSERT_TRUE(WriteFileAtomic(top + "/secrets/word", "x", 0600));
    ASSERT_TRUE(WriteFileAtomic(tool + "/run.sh", "#!/bin/sh\n", 0755));
    ASSERT_TRUE(WriteFileAtomic(tool + "/tool.yaml", "name: hello\ndescription: says hello\ncommand: [./run.sh]\nsecrets: {WORD: {file: " + top + "/secrets/word}}\n", 0644));
    ASSERT_EQ(::symlink((top + "/tools").c_str(), (top + "/linked").c_str()), 0);
    beige_.home().Write("gateway.yaml", "apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\ntools: {hello: {path: " + top + "/linked/hello}}\n");
    auto environment = environment_;
    environment.push_back("STAND_IN_OTHER=" + top + "/default");
    environment.push_back("STAND_IN_NAMED=" + top + "/linked/hello/run.sh:" + top + "/secrets/word");
    ASSERT_EQ(beige_.Beige({"up", "--detach"}, environment).status, 0);
    EXPECT_EQ(beige_.Json("run/up.json")["privilegeSplit"], "namespace");
    ASSERT_TRUE(ConnectUnix(top + "/default")) << "from here it answers";
    const auto view = beige_.Json("data/gateway/view.json");
    EXPECT_EQ(view["other"], false) << "who types into it is its user";
    EXPECT_EQ(view["named"], 2);
    EXPECT_EQ(view["temporary"], false) << "nothing to write either";
    EXPECT_EQ(view["cell"], "from a cell\n");
    EXPECT_EQ(beige_.Beige({"down"}).status, 0);
    static_cast<void>(RemoveTree(top));
  }
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

TEST_F(ViewTest, TheViewHoldsWhenTheEngineIsRestarted) {
  ASSERT_TRUE(CanMakeUserNamespaces()) << "this machine makes no user namespaces: install bubblewrap, or allow them (kernel.unprivileged_userns_clone)";
  ASSERT_EQ(beige_.Beige({"up", "--detach"}, environment_).status, 0);
  const pid_t gateway = beige_.Pid("gatewayPid");
  listener_.Reset();
  ASSERT_TRUE(RemoveFile(directory_ + "/engine.sock"));
  listener_ = std::move(ListenUnix(directory_ + "/engine.sock", 0666).value());
  ASSERT_TRUE(ConnectUnix(directory_ + "/engine.sock")) << "from here it answers again";
  const auto view = LookAgain();
  EXPECT_EQ(view["engine"], false);
  EXPECT_EQ(view["engineThroughProc"], false);
  EXPECT_EQ(beige_.Pid("gatewayPid"), gateway) << "nothing needed to be started again";
}

TEST_F(ViewTest, TheViewHoldsWhenOperatorYamlIsRenamedOver) {
  ASSERT_TRUE(CanMakeUserNamespaces()) << "this machine makes no user namespaces: install bubblewrap, or allow them (kernel.unprivileged_userns_clone)";
  ASSERT_EQ(beige_.Beige({"up", "--detach"}, environment_).status, 0);
  const std::string text = beige_.home().Read("operator.yaml") + "resync: 50s\n";
  beige_.home().Write("operator.yaml", text, 0666);  // by rename, as editors save
  const auto view = LookAgain();
  EXPECT_EQ(view["operatorYaml"], false);
  EXPECT_EQ(view["agentsDir"], false);
  EXPECT_EQ(view["engine"], false);
  EXPECT_EQ(beige_.home().Read("operator.yaml"), text);
}

TEST_F(ViewTest, AnEnginesDirectoryThatIsMadeAnewIsMaskedAgain) {
  ASSERT_TRUE(CanMakeUserNamespaces()) << "this machine makes no user namespaces: install bubblewrap, or allow them (kernel.unprivileged_userns_clone)";
  ASSERT_EQ(beige_.Beige({"up", "--detach"}, environment_).status, 0);
  const pid_t gateway = beige_.Pid("gatewayPid");
  listener_.Reset();
  ASSERT_TRUE(RemoveTree(directory_));  // the mask goes with it
  ASSERT_TRUE(MakeDirs(directory_, 0755));
  listener_ = std::move(ListenUnix(directory_ + "/engine.sock", 0666).value());
  ASSERT_TRUE(beige_.AnswersWithNewPid("gatewayPid", gateway));
  EXPECT_EQ(LookAgain()["engine"], false);
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
