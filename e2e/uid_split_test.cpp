// Two users instead of a view: what packaging/ installs, with the shipped programs and a table of directories made by systemd-tmpfiles.
#include <gtest/gtest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "base/files.h"
#include "base/spawn.h"
#include "e2e/home.h"

namespace beige::e2e {
namespace {
using nlohmann::json;
constexpr const char* kOperatorUid = "61001";
constexpr const char* kGatewayUid = "61002";
constexpr const char* kGroup = "61003";

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) text.replace(at, what.size(), with);
  return text;
}

class UidSplitTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (::geteuid() != 0) return;
    home = std::make_unique<Home>();
    home->Configure("tools:\n  hello: {path: ./tools/hello}\n");
    home->AddShellTool("hello", "echo hello from $(id -u)");
    home->AddAgent("a1", "tools: [{name: hello}]");
    LayOut();
    operator_ = Start(kOperatorUid, "+chown,+dac_override,+fowner", "beige-operator");
    gateway = Start(kGatewayUid, "", "beige-gateway");
    home->WaitReady("a1");
  }
  static void TearDownTestSuite() {
    for (const pid_t pid : {operator_, gateway}) {
      if (pid <= 0) continue;
      ::kill(pid, SIGTERM);
      ::waitpid(pid, nullptr, 0);
    }
    home.reset();
  }
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can start programs as two other users";
    ASSERT_GT(operator_, 0);
    ASSERT_GT(gateway, 0);
  }

  // The packaged table of directories, for this home and these numbers.
  static void LayOut() {
    std::string table = beige::ReadFile(BEIGE_SOURCE_DIR "/packaging/tmpfiles.d/beige.conf").value_or("");
    table = Replaced(table, "/var/lib/beige", home->path());
    table = Replaced(table, " beige-operator", std::string(" ") + kOperatorUid);
    table = Replaced(table, " beige-gateway", std::string(" ") + kGatewayUid);
    table = Replaced(table, " beige", std::string(" ") + kGroup);
    home->WriteFile("table.conf", table);
    const Outcome made = RunProgram({"systemd-tmpfiles", "--create", home->path() + "/table.conf"});
    ASSERT_EQ(made.status, 0) << made.out << made.err;
    // Tools are the administrator's, readable by the gateway.
    ASSERT_EQ(RunProgram({"sh", "-c", std::string("chgrp -R ") + kGroup + " \"$1\" && chmod -R g+rX \"$1\"", "sh", home->path() + "/tools"}).status, 0);
  }

  static pid_t Start(const std::string& uid, const std::string& capabilities, const std::string& program) {
    SpawnRequest request;
    request.argv = {"setpriv", "--reuid", uid, "--regid", kGroup, "--clear-groups", "--no-new-privs"};
    const std::string set = capabilities.empty() ? "-all" : "-all," + capabilities;
    request.argv.insert(request.argv.end(), {"--inh-caps", set, "--ambient-caps", set, "--bounding-set", set});
    request.argv.insert(request.argv.end(), {std::string(BEIGE_BIN_DIR) + "/" + program, "--home", home->path()});
    request.environment = CurrentEnvironment();
    const UniqueFd log(::open((home->path() + "/logs/" + program + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    request.fds = {{log.get(), 1}, {log.get(), 2}};
    const auto pid = Spawn(request);
    EXPECT_TRUE(pid) << pid.error().message;
    return pid.value_or(0);
  }

  // As whoever has broken into the gateway.
  static Outcome AsGateway(const std::string& script) {
    return RunProgram({"setpriv", "--reuid", kGatewayUid, "--regid", kGroup, "--clear-groups", "--inh-caps", "-all", "--bounding-set", "-all", "sh", "-c", script, "sh", home->path()});
  }

  static std::unique_ptr<Home> home;
  static pid_t operator_;
  static pid_t gateway;
};
std::unique_ptr<Home> UidSplitTest::home;
pid_t UidSplitTest::operator_ = 0;
pid_t UidSplitTest::gateway = 0;

TEST_F(UidSplitTest, AgentsRunAndCallToolsAndEachHasAUidOfItsOwn) {
  const Outcome hello = home->Exec("a1", {"hello"});
  EXPECT_EQ(hello.out, std::string("hello from ") + kGatewayUid + "\n") << hello.err;
  const Outcome id = home->Exec("a1", {"id", "-u"});
  EXPECT_GE(std::stoul(id.out), 200000u) << id.out << id.err;
  EXPECT_EQ(home->Sh("a1", "echo kept > /workspace/file && cat /workspace/file").out, "kept\n");
}

TEST_F(UidSplitTest, StatusAndDoctorSayUid) {
  const Outcome status = home->Beige({"status", "-o", "json"});
  EXPECT_EQ(status.status, 0) << status.out << status.err;
  EXPECT_EQ(json::parse(status.out)["privilegeSplit"], "uid");
  const Outcome doctor = home->Beige({"doctor", "-o", "json"});
  const json report = json::parse(doctor.out);
  EXPECT_EQ(report["privilegeSplit"], "uid") << doctor.out;
  EXPECT_EQ(report["canRunAgents"], true) << doctor.out;
  size_t closed = 0;
  for (const auto& finding : report["findings"]) {
    const std::string check = finding["check"];
    if (check == "home.ownership" || check.starts_with("process.")) {
      EXPECT_EQ(finding["level"], "ok") << finding;
    }
    closed += check.starts_with("process.") ? 1 : 0;
  }
  EXPECT_EQ(closed, 2u) << "both processes were looked at";
  std::map<std::string, std::string> owners;
  for (const auto& place : report["ownership"]) owners[place["path"]] = place["owner"];
  EXPECT_EQ(owners["data/operator"], kOperatorUid);
  EXPECT_EQ(owners["data/gateway"], kGatewayUid);
  EXPECT_EQ(owners["operator.yaml"], "root");
  EXPECT_EQ(owners["."], "root");
}

TEST_F(UidSplitTest, TheGatewaysUserWritesNothingThatTheOperatorObeysAndReachesNoEngine) {
  ASSERT_EQ(AsGateway("touch \"$1/data/gateway/mine\"").status, 0) << "the attack itself must be able to run";
  const std::string operator_yaml = home->ReadText("operator.yaml");
  for (const char* attack :
       {"echo x >> \"$1/operator.yaml\"", "cat \"$1/operator.yaml\"", "echo x > \"$1/agents.d/evil.yaml\"", "ls \"$1/agents.d\"", "echo x > \"$1/gateway.yaml\"",
        "echo x > \"$1/data/operator/status/default/a1.json\"", "ls \"$1/data/operator\"", "mv \"$1/agents.d\" \"$1/away\"", "mv \"$1/data/operator\" \"$1/data/away\"",
        "rm \"$1/operator.yaml\"", "touch \"$1/new\"", "touch \"$1/bin/new\"", "ls \"$1/agents/default\"", "echo x > \"$1/tools/hello/run.sh\""}) {
    EXPECT_NE(AsGateway(attack).status, 0) << attack;
  }
  EXPECT_EQ(home->ReadText("operator.yaml"), operator_yaml);
  EXPECT_NE(AsGateway("curl -sS -m 5 --unix-socket " + EngineSocket() + " http://engine/_ping").status, 0);
  EXPECT_EQ(home->GetAgent("a1")["metadata"]["name"], "a1");
}

TEST_F(UidSplitTest, NeitherProcessCanBeLookedIntoByItsOwnUser) {
  for (const auto& [pid, uid] : std::map<pid_t, std::string>{{operator_, kOperatorUid}, {gateway, kGatewayUid}}) {
    const std::string proc = "/proc/" + std::to_string(pid);
    struct stat info {};
    ASSERT_EQ(::stat(proc.c_str(), &info), 0);
    for (const char* file : {"environ", "mem", "maps"}) {
      const Outcome read = RunProgram({"setpriv", "--reuid", uid, "--regid", kGroup, "--clear-groups", "--inh-caps", "-all", "--bounding-set", "-all", "head", "-c", "1", proc + "/" + file});
      EXPECT_NE(read.status, 0) << file;
    }
    EXPECT_NE(beige::ReadFile(proc + "/limits").value_or("").find("Max core file size        0                    0"), std::string::npos);
  }
}

TEST_F(UidSplitTest, TheOperatorComesBackAndTheSandboxStays) {
  const std::string container = home->ContainerId("a1");
  ::kill(operator_, SIGKILL);
  ::waitpid(operator_, nullptr, 0);
  operator_ = Start(kOperatorUid, "+chown,+dac_override,+fowner", "beige-operator");
  ASSERT_TRUE(Eventually([] { return home->Info("data/operator/operator.json").value("pid", 0) == operator_; }));
  home->AddAgent("later", "tools: [{name: hello}]");
  home->WaitReady("later");
  EXPECT_EQ(home->ContainerId("a1"), container);
}

}  // namespace
}  // namespace beige::e2e
