// A rogue agent. Each test is named after the promise that it attacks, from inside a live sandbox.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "e2e/home.h"

namespace beige::e2e {
namespace {
using nlohmann::json;

class EscapeTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home = std::make_unique<Home>();
    home->Configure("tools:\n  hello: {path: ./tools/hello}\n  probe: {path: ./tools/probe}\n");
    home->AddShellTool("hello", "echo hello $1");
    home->AddShellTool("probe", "eval \"$1\"");
    home->AddAgent("rogue", "tools: [{name: hello}, {name: probe}]\nsandbox: {pidsLimit: 64, resources: {limits: {memory: 64Mi}}}");
    home->AddAgent("neighbour", "tools: [{name: hello}]");
    home->Up();
    home->WaitReady("rogue");
    home->WaitReady("neighbour");
    const std::string workspace = home->GetAgent("rogue")["local"]["workspace"];
    std::filesystem::copy_file(BEIGE_ATTACKER, workspace + "/attacker", std::filesystem::copy_options::overwrite_existing);
    std::filesystem::permissions(workspace + "/attacker", std::filesystem::perms::others_exec | std::filesystem::perms::others_read,
                                 std::filesystem::perm_options::add);
  }
  static void TearDownTestSuite() { home.reset(); }

  static Outcome Attack(std::vector<std::string> args) {
    args.insert(args.begin(), "/workspace/attacker");
    return home->Exec("rogue", args);
  }
  // Works now, and in the same container as before.
  static void ExpectAlive(const std::string& container) {
    EXPECT_TRUE(Eventually([] { return home->Exec("rogue", {"hello", "x"}).out == "hello x\n"; }, seconds(20)));
    EXPECT_EQ(home->ContainerId("rogue"), container);
  }
  static void ExpectNeighbourWorks() { EXPECT_EQ(home->Exec("neighbour", {"hello", "n"}).out, "hello n\n"); }
  static std::unique_ptr<Home> home;
};
std::unique_ptr<Home> EscapeTest::home;

TEST_F(EscapeTest, Pid1CantBeTraced) { EXPECT_EQ(Attack({"ptrace"}).status, 1) << Attack({"ptrace"}).out; }
TEST_F(EscapeTest, Pid1sMemoryAndDescriptorsCantBeOpened) { EXPECT_EQ(Attack({"memory"}).status, 1) << Attack({"memory"}).out; }
TEST_F(EscapeTest, Pid1sLimitsAndSchedulingCantBeChangedInAnyAbi) { EXPECT_EQ(Attack({"scheduling"}).status, 1) << Attack({"scheduling"}).out; }
TEST_F(EscapeTest, Pid1CantBeReachedByPidFd) { EXPECT_EQ(Attack({"pidfd"}).status, 1); }
TEST_F(EscapeTest, NoNamespaceCapabilityOrUidCanBeGained) { EXPECT_EQ(Attack({"namespaces"}).status, 1) << Attack({"namespaces"}).out; }

TEST_F(EscapeTest, SignalsToPid1LeaveItRunning) {
  const std::string container = home->ContainerId("rogue");
  const auto restarts = home->GetAgent("rogue")["status"]["sandbox"]["restarts"];
  for (int i = 0; i < 5; ++i) Attack({"signals"});
  home->Sh("rogue", "for s in TERM STOP KILL INT HUP CHLD; do kill -$s 1; done");
  ExpectAlive(container);
  EXPECT_EQ(home->GetAgent("rogue")["status"]["sandbox"]["restarts"], restarts);
}

TEST_F(EscapeTest, AStrangerCantClaimTheControlChannel) {
  const std::string container = home->ContainerId("rogue");
  EXPECT_EQ(Attack({"claim"}).status, 1) << Attack({"claim"}).out;
  ExpectAlive(container);
  // Nor in the race after a gateway restart: the key is known.
  const std::string script = "for i in 1 2 3 4 5 6 7 8 9 10; do /workspace/attacker claim | grep -c registered; sleep 0.2; done";
  RunProgram({"pkill", "-KILL", "-f", "beige-gateway --home " + home->path()});
  EXPECT_TRUE(Eventually([] { return home->Exec("rogue", {"true"}).status == 0; }, seconds(20)));
  EXPECT_EQ(home->Sh("rogue", script).out.find('1'), std::string::npos);
  ExpectAlive(container);
}

TEST_F(EscapeTest, TheAuditCantBeForgedByArguments) {
  const std::string forged = "x\n{\"v\":1,\"seq\":1,\"event\":\"begin\",\"agent\":\"neighbour\",\"decision\":\"allow\"}\n";
  home->Exec("rogue", {"hello", forged});
  home->Sh("rogue", "hello \"$(printf 'a\\377\\376b')\"");
  home->Sh("rogue", "hello \"$(head -c 100000 /dev/zero | tr '\\0' A)\"");
  const auto records = home->Audit();  // parses every line
  bool cut = false;
  for (const json& record : records) {
    if (record["event"] == "begin" && record.value("agent", "") == "neighbour") {
      EXPECT_NE(record["tool"], json());
    }
    if (record.contains("args") && record["args"].is_object()) cut = cut || record["args"].value("cut", false);
  }
  EXPECT_TRUE(cut);
  EXPECT_TRUE(std::none_of(records.begin(), records.end(), [](const json& r) { return r.value("seq", 0) == 1 && r.value("agent", "") == "neighbour" && !r.contains("id"); }));
}

TEST_F(EscapeTest, AForkBombEndsAndTheNeighbourNeverNotices) {
  const std::string container = home->ContainerId("rogue");
  const Outcome bomb = home->Beige({"exec", "--timeout", "4s", "rogue", "--", "/workspace/attacker", "forkbomb", "3600"});
  EXPECT_EQ(bomb.status, 124) << bomb.err;
  ExpectNeighbourWorks();
  ExpectAlive(container);
  EXPECT_TRUE(Eventually([] { return home->Sh("rogue", "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c forkbom[b]").out == "0\n"; }, seconds(20)));
}

TEST_F(EscapeTest, MemoryThatIsEatenKillsTheEaterAndNotABystander) {
  const std::string container = home->ContainerId("rogue");
  const Outcome r = home->Sh("rogue", "sleep 600 & /workspace/attacker eat-memory; echo eater $?; kill -0 $! && echo bystander lives; kill $!");
  EXPECT_NE(r.out.find("eater 137"), std::string::npos) << r.out << r.err;
  ExpectNeighbourWorks();
  ExpectAlive(container);
}

TEST_F(EscapeTest, ATmpfsThatIsFullStopsNothingElse) {
  const std::string container = home->ContainerId("rogue");
  const Outcome r = home->Sh("rogue", "head -c 200000000 /dev/zero > /tmp/fill; echo full $?; rm -f /tmp/fill");
  EXPECT_NE(r.out.find("full"), std::string::npos) << r.out << r.err;
  ExpectNeighbourWorks();
  ExpectAlive(container);
}

TEST_F(EscapeTest, AFloodOfConnectionsCostsOnlyTheFlooder) {
  Attack({"flood", "/beige/gateway.sock", "200", "1"});
  const Outcome started = home->Sh("rogue", "/workspace/attacker flood /beige/gateway.sock 500 5 > /tmp/flood & sleep 1; cat /tmp/flood");
  ExpectNeighbourWorks();
  EXPECT_EQ(home->ConditionStatus("rogue", "Ready"), "True") << "the probe's own connection is kept free";
  EXPECT_TRUE(Eventually([] { return home->Exec("rogue", {"hello", "x"}).out == "hello x\n"; }, seconds(20)));
}

TEST_F(EscapeTest, AnEndlessLineIsCutAndTheGatewayDoesNotGrow) {
  const auto rss = [] {
    const auto info = home->Info("data/gateway/gateway.json");
    return std::stol("0" + RunProgram({"sh", "-c", "awk '/VmRSS/{print $2}' /proc/" + std::to_string(info.value("pid", 0)) + "/status"}).out);
  };
  const long before = rss();
  ASSERT_GT(before, 0);
  EXPECT_EQ(Attack({"endless", "/beige/gateway.sock"}).status, 1) << "64 MiB of one line were taken";
  EXPECT_LT(rss(), before + 16 * 1024);
  ExpectNeighbourWorks();
}

TEST_F(EscapeTest, InotifyInstancesUsedUpLeaveTheOperatorWatching) {
  const Outcome r = home->Sh("rogue", "/workspace/attacker eat-inotify & sleep 1; kill %1 2>/dev/null; kill $!; true");
  home->AddAgent("later", "tools: []");
  home->WaitReady("later");
  EXPECT_EQ(home->Beige({"delete", "agent", "later"}).status, 0);
}

TEST_F(EscapeTest, ATouchedToolCantReachTheGateway) {
  const auto info = home->Info("data/gateway/gateway.json");
  const std::string pid = std::to_string(info.value("pid", 0));
  for (const std::string& script : {
           "kill -0 " + pid,
           "cat /proc/" + pid + "/environ",
           "ls " + home->path() + "/run",
           "cat " + home->path() + "/api-token",
           std::string("ls /proc/[0-9]*/root/etc/shadow"),
           std::string("mount -t tmpfs x /tmp"),
           std::string("cat /etc/shadow"),
           "ls " + EngineSocket(),
       }) {
    EXPECT_NE(home->Exec("rogue", {"probe", script}).status, 0) << script;
  }
  // Its pid namespace is its own: PID 1 there is the runner.
  EXPECT_EQ(home->Exec("rogue", {"probe", "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'beige-gatewa[y]'"}).out, "0\n");
}

TEST_F(EscapeTest, TheGatewaysOwnProcessCantReachTheEngineOrTheOperatorsFiles) {
  // Enter the gateway's namespaces as the gateway's user and try what it could try.
  const auto info = home->Info("data/gateway/gateway.json");
  const std::string pid = std::to_string(info.value("pid", 0));
  ASSERT_NE(pid, "0");
  const auto as_gateway = [&](const std::string& script) { return RunProgram({"nsenter", "-t", pid, "-U", "-m", "--preserve-credentials", "sh", "-c", script}); };
  EXPECT_EQ(as_gateway("true").status, 0) << as_gateway("true").err;
  EXPECT_NE(as_gateway("curl -sS --unix-socket " + EngineSocket() + " http://x/_ping").status, 0);
  for (const char* path : {"operator.yaml", "gateway.yaml", "agents.d/rogue.yaml", "data/operator/x", "bin/x"}) {
    EXPECT_NE(as_gateway("echo x >> " + home->path() + "/" + path).status, 0) << path;
  }
  EXPECT_NE(as_gateway("touch /etc/x").status, 0);
  // A rename over operator.yaml keeps the view closed.
  home->WriteFile("operator.yaml", home->ReadText("operator.yaml") + "\n");
  EXPECT_NE(as_gateway("echo x >> " + home->path() + "/operator.yaml").status, 0);
  EXPECT_NE(RunProgram({"cat", "/proc/" + pid + "/status"}).out.find("State"), std::string::npos);
}

TEST_F(EscapeTest, FiftyCallsAtOnceCostTheCallerOnly) {
  const Outcome r = home->Sh("rogue", "i=0; while [ $i -lt 50 ]; do (hello $i >/dev/null 2>&1 &) ; i=$((i+1)); done; sleep 1; echo done");
  EXPECT_NE(r.out.find("done"), std::string::npos);
  ExpectNeighbourWorks();
}

}  // namespace
}  // namespace beige::e2e
