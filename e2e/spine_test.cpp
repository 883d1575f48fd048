// The thin path and the life of an Agent: create, edit, grant, revoke, suspend, delete.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files.h"
#include "e2e/home.h"

namespace beige::e2e {
namespace {
using nlohmann::json;

class SpineTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home = std::make_unique<Home>();
    home->Configure("tools:\n  hello: {path: ./tools/hello}\n  other: {path: ./tools/other}\nskills:\n  notes: {path: ./skills/notes}\n");
    home->AddShellTool("hello", "echo hello $1");
    home->AddShellTool("other", "echo other");
    home->WriteFile("skills/notes/SKILL.md", "# Notes\n");
    home->AddAgent("a1", "tools: [{name: hello}]");
    home->Up();
    home->WaitReady("a1");
  }
  static void TearDownTestSuite() { home.reset(); }
  static std::unique_ptr<Home> home;
};
std::unique_ptr<Home> SpineTest::home;

TEST_F(SpineTest, AFileBecomesAHardenedContainerThatRunsCommands) {
  EXPECT_EQ(home->Exec("a1", {"true"}).status, 0);
  const json inspect = Engine("GET", "/containers/" + home->ContainerId("a1") + "/json");
  const json& host = inspect["HostConfig"];
  EXPECT_NE(inspect["Config"]["User"].get<std::string>().substr(0, 1), "0");
  EXPECT_EQ(host["CapDrop"], json::array({"ALL"}));
  EXPECT_TRUE(host["ReadonlyRootfs"].get<bool>());
  EXPECT_EQ(host["NetworkMode"], "none");
  EXPECT_EQ(host["Memory"], host["MemorySwap"]);
  EXPECT_EQ(host["PidsLimit"], 512);
}

TEST_F(SpineTest, ARawCallOfAToolThatIsNotGrantedIsDeniedAndAudited) {
  const json answer = home->CallV1("a1", {{"type", "tool_request"}, {"tool", "other"}, {"args", {"x"}}, {"id", "7"}});
  EXPECT_EQ(answer["type"], "tool_response");
  EXPECT_EQ(answer["success"], false);
  EXPECT_EQ(answer["exitCode"], 126);
  EXPECT_EQ(answer["id"], "7");
  EXPECT_NE(answer["error"].get<std::string>().find("not in tools of agent a1"), std::string::npos) << answer;
  const json last = home->Audit().back();
  EXPECT_EQ(last["event"], "begin");
  EXPECT_EQ(last["decision"], "deny");
  EXPECT_EQ(last["tool"], "other");
  EXPECT_EQ(last["agent"], "a1");
  EXPECT_EQ(last["args"], json::array({"x"}));
}

TEST_F(SpineTest, AnAllowedCallRunsAndLeavesABeginAndAnEnd) {
  const Outcome r = home->Exec("a1", {"hello", "world"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out, "hello world\n");
  const auto records = home->Audit();
  const auto tool_begin = std::find_if(records.rbegin(), records.rend(), [](const json& x) { return x["event"] == "begin" && x.value("tool", "") == "hello"; });
  ASSERT_NE(tool_begin, records.rend());
  const auto end = std::find_if(records.begin(), records.end(), [&](const json& x) { return x["event"] == "end" && x["id"] == (*tool_begin)["id"]; });
  ASSERT_NE(end, records.end());
  EXPECT_EQ((*end)["outcome"], "ok");
  EXPECT_EQ((*end)["exitCode"], 0);
  EXPECT_EQ((*end)["stdoutBytes"], 12);
  EXPECT_EQ((*tool_begin)["decision"], "allow");
}

TEST_F(SpineTest, GrantAndRevokeAreLiveWithoutANewContainer) {
  const std::string container = home->ContainerId("a1");
  EXPECT_EQ(home->Exec("a1", {"other"}).status, 127);
  home->AddAgent("a1", "tools: [{name: hello}, {name: other}]\nskills: [{name: notes}]");
  ASSERT_TRUE(Eventually([] { return home->Exec("a1", {"other"}).out == "other\n"; }));
  EXPECT_EQ(home->Exec("a1", {"cat", "/skills/notes/SKILL.md"}).out, "# Notes\n");
  EXPECT_NE(home->Exec("a1", {"cat", "/tools/packages/other/README.md"}).out.find("Tool other"), std::string::npos);
  home->AddAgent("a1", "tools: [{name: hello}]");
  ASSERT_TRUE(Eventually([] { return home->Exec("a1", {"other"}).status == 127; }));
  EXPECT_NE(home->Exec("a1", {"ls", "/skills/notes"}).status, 0);
  EXPECT_EQ(home->ContainerId("a1"), container);
}

TEST_F(SpineTest, AnUnknownToolIsNamedAndTheRestWorks) {
  home->AddAgent("a1", "tools: [{name: hello}, {name: nosuch}]");
  ASSERT_TRUE(Eventually([] {
    const json agent = home->GetAgent("a1");
    for (const json& c : agent["status"]["conditions"]) {
      if (c["type"] == "PolicyInForce" && c.value("message", "").find("nosuch") != std::string::npos) return true;
    }
    return false;
  }));
  EXPECT_EQ(home->Exec("a1", {"hello", "x"}).out, "hello x\n");
  home->AddAgent("a1", "tools: [{name: hello}]");
}

TEST_F(SpineTest, AContainerShapingChangeMakesANewContainerAndKeepsTheWorkspace) {
  ASSERT_EQ(home->Sh("a1", "echo kept > /workspace/note").status, 0);
  const std::string before = home->ContainerId("a1");
  home->AddAgent("a1", "tools: [{name: hello}]\nsandbox: {env: [{name: TZ, value: UTC}], pidsLimit: 100}");
  ASSERT_TRUE(Eventually([&] {
    const std::string now = home->ContainerId("a1");
    return !now.empty() && now != before && home->ConditionStatus("a1", "Ready") == "True";
  }));
  EXPECT_EQ(home->Sh("a1", "cat /workspace/note; echo $TZ").out, "kept\nUTC\n");
  home->AddAgent("a1", "tools: [{name: hello}]");
  ASSERT_TRUE(Eventually([&] { return home->Sh("a1", "echo ${TZ:-none}").out == "none\n"; }));
  ASSERT_TRUE(Eventually([&] { return home->ConditionStatus("a1", "UpToDate") == "True" && home->ConditionStatus("a1", "Ready") == "True"; }));
}

TEST_F(SpineTest, AnInvalidNewVersionKeepsTheOldRunningAndSaysWhy) {
  const std::string container = home->ContainerId("a1");
  home->AddAgent("a1", "tools: [{name: hello}]\nsandbox: {pidsLimit: many}");
  ASSERT_TRUE(Eventually([] { return home->ConditionStatus("a1", "Accepted") == "False"; }));
  EXPECT_EQ(home->ConditionReason("a1", "Accepted"), "InvalidSpec");
  EXPECT_EQ(home->ConditionStatus("a1", "Ready"), "True");
  EXPECT_NE(home->Beige({"describe", "agent", "a1"}).out.find("pidsLimit"), std::string::npos);
  EXPECT_EQ(home->Exec("a1", {"hello", "still"}).out, "hello still\n");
  EXPECT_EQ(home->ContainerId("a1"), container);
  home->AddAgent("a1", "tools: [{name: hello}]");
  ASSERT_TRUE(Eventually([] { return home->ConditionStatus("a1", "Accepted") == "True"; }));
}

TEST_F(SpineTest, ASecondFileWithTheSameNameIsRefusedAndTheFirstKeepsRunning) {
  const std::string container = home->ContainerId("a1");
  home->WriteFile("agents.d/zz.yaml", "apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: a1}\nspec: {description: impostor}\n");
  ASSERT_TRUE(Eventually([] { return home->Beige({"status"}).out.find("zz.yaml") != std::string::npos; }));
  EXPECT_EQ(home->ContainerId("a1"), container);
  EXPECT_EQ(home->GetAgent("a1")["spec"]["description"], "Agent of the tests");
  ASSERT_TRUE(RemoveFile(home->path() + "/agents.d/zz.yaml"));
}

TEST_F(SpineTest, SuspendStopsTheSandboxAndRunningBringsItBack) {
  home->AddAgent("s1", "operatingMode: Running");
  home->WaitReady("s1");
  ASSERT_EQ(home->Sh("s1", "echo x > /workspace/x").status, 0);
  home->AddAgent("s1", "operatingMode: Suspended");
  ASSERT_TRUE(Eventually([] { return home->ConditionStatus("s1", "Suspended") == "True" && home->ConditionStatus("s1", "Ready") == "False"; }));
  EXPECT_EQ(home->Exec("s1", {"true"}).status, 126) << "exec in a suspended agent is denied";
  home->AddAgent("s1", "operatingMode: Running");
  home->WaitReady("s1");
  EXPECT_EQ(home->Sh("s1", "cat /workspace/x").out, "x\n");
  EXPECT_EQ(home->Beige({"delete", "agent", "s1"}).status, 0);
}

TEST_F(SpineTest, DeleteRemovesContainerSocketAndStatusAndKeepsTheWorkspace) {
  home->AddAgent("d1", "workspace: {retentionPolicy: Retain}");
  home->WaitReady("d1");
  const std::string container = home->ContainerId("d1");
  const std::string socket = home->Socket("d1");
  ASSERT_EQ(home->Sh("d1", "echo mine > /workspace/file").status, 0);
  EXPECT_EQ(home->Beige({"delete", "agent", "d1"}).status, 0);
  EXPECT_EQ(home->Beige({"wait", "agent", "d1", "--for=delete", "--timeout=30s"}).status, 0);
  ASSERT_TRUE(Eventually([&] { return Engine("GET", "/containers/" + container + "/json").contains("message"); }));
  ASSERT_TRUE(Eventually([&] { return !Exists(socket); }));
  EXPECT_EQ(home->Beige({"get", "agents", "d1"}).status, 3);
  EXPECT_EQ(home->ReadText("agents/default/d1/workspace/file"), "mine\n");
}

TEST_F(SpineTest, ManyDocumentsInOneFileAreManyAgents) {
  home->WriteFile("agents.d/many.yaml",
                  "apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: m1}\nspec: {description: one}\n---\n"
                  "apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: m2}\nspec: {description: two}\n");
  home->WaitReady("m1");
  home->WaitReady("m2");
  ASSERT_TRUE(RemoveFile(home->path() + "/agents.d/many.yaml"));
  EXPECT_EQ(home->Beige({"wait", "agent", "m2", "--for=delete", "--timeout=30s"}).status, 0);
}

TEST_F(SpineTest, ASecondUpOnTheHomeIsRefusedByTheNameOfTheFirst) {
  const Outcome second = home->Beige({"up", "--detach"});
  EXPECT_NE(second.status, 0);
  EXPECT_NE(second.err.find(std::to_string(home->Pid("supervisor"))), std::string::npos) << second.err;
}

TEST_F(SpineTest, MetricsOfBothProcessesCountWhatHappened) {
  const auto gateway = home->Info("data/gateway/gateway.json");
  const auto op = home->Info("data/operator/operator.json");
  const Outcome g = RunProgram({"curl", "-sS", "http://127.0.0.1:" + std::to_string(gateway.value("metricsPort", 0)) + "/metrics"});
  EXPECT_NE(g.out.find("beige_tool_calls_total{"), std::string::npos) << g.out << g.err;
  EXPECT_NE(g.out.find("beige_build_info"), std::string::npos);
  const Outcome o = RunProgram({"curl", "-sS", "http://127.0.0.1:" + std::to_string(op.value("metricsPort", 0)) + "/metrics"});
  EXPECT_NE(o.out.find("beige_reconcile_total{"), std::string::npos) << o.out << o.err;
  EXPECT_NE(o.out.find("beige_engine_requests_total{"), std::string::npos);
  EXPECT_NE(o.out.find("beige_agent_condition{"), std::string::npos);
}

}  // namespace
}  // namespace beige::e2e
