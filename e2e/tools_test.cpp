// Command tools in every form: launcher and v1, streams, stdin, signals, cancellation, deadline, confinement of the cell.
#include <gtest/gtest.h>

#include "e2e/home.h"

namespace beige::e2e {
namespace {
using nlohmann::json;

class ToolsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home = std::make_unique<Home>();
    home->Configure(
        "tools:\n  probe: {path: ./tools/probe}\n  slow: {path: ./tools/slow}\n  up: {path: ./tools/up}\n  keep: {path: ./tools/keep}\n"
        "  secret: {path: ./tools/secret}\n  fail: {path: ./tools/fail}\n  web: {path: ./tools/web}\n");
    home->AddShellTool("probe", "eval \"$1\"");
    home->AddShellTool("slow", "setsid sleep 5432 & sleep 5432", "timeout: 1s\n");
    home->AddShellTool("up", "echo started >&2; tr a-z A-Z");
    home->AddShellTool("keep", "case $1 in put) cat > $BEIGE_TOOL_DATA/v;; get) cat $BEIGE_TOOL_DATA/v;; esac");
    home->WriteFile("secret.txt", "s3cr3t-canary\n", 0600);
    home->AddShellTool("secret", "echo ${#TOKEN}; cat /proc/*/cmdline | tr '\\0' ' '", "secrets: {TOKEN: {file: ../../secret.txt}}\n");
    home->AddShellTool("fail", "echo partial; echo broken >&2; exit 9");
    home->AddShellTool("web", "cat /proc/net/dev | grep -c :", "network: host\n");
    home->AddAgent("a1", "tools: [{name: probe}, {name: slow}, {name: up}, {name: keep}, {name: secret}, {name: fail}, {name: web}]");
    home->AddAgent("a2", "tools: [{name: keep}]");
    home->Up();
    home->WaitReady("a1");
    home->WaitReady("a2");
  }
  static void TearDownTestSuite() { home.reset(); }
  static std::unique_ptr<Home> home;
};
std::unique_ptr<Home> ToolsTest::home;

TEST_F(ToolsTest, ALauncherBehavesLikeAnyCommandInAPipe) {
  const Outcome r = home->Sh("a1", "echo abc | up | cat");
  EXPECT_EQ(r.out, "ABC\n");
  EXPECT_EQ(r.err, "started\n");
}

TEST_F(ToolsTest, ExitCodeStdoutAndStderrAreTheToolsOwn) {
  const Outcome r = home->Exec("a1", {"fail"});
  EXPECT_EQ(r.status, 9);
  EXPECT_EQ(r.out, "partial\n");
  EXPECT_EQ(r.err, "broken\n");
  const json v1 = home->CallV1("a1", {{"type", "tool_request"}, {"tool", "fail"}, {"args", json::array()}});
  EXPECT_EQ(v1["exitCode"], 9);
  EXPECT_EQ(v1["success"], false);
}

TEST_F(ToolsTest, V1AnswersWithOutput) {
  const json v1 = home->CallV1("a1", {{"type", "tool_request"}, {"tool", "probe"}, {"args", {"echo hi; echo warn >&2"}}});
  EXPECT_EQ(v1["success"], true);
  EXPECT_EQ(v1["output"], "hi\n");
  EXPECT_EQ(v1["stderr"], "warn\n");
  EXPECT_EQ(v1["exitCode"], 0);
}

TEST_F(ToolsTest, OutputStreamsAsItComes) {
  const Outcome r = home->Sh("a1", "probe 'echo first; sleep 2; echo second' | (read l; echo $l; cut -d' ' -f1 /proc/uptime >&2; cat >/dev/null; cut -d' ' -f1 /proc/uptime >&2)");
  double first = 0;
  double second = 0;
  ASSERT_EQ(std::sscanf(r.err.c_str(), "%lf %lf", &first, &second), 2) << r.err;
  EXPECT_GT(second - first, 1.0) << "the first line arrived only with the end";
}

TEST_F(ToolsTest, TheDeadlineOfTheToolIs124AndTheTreeIsGone) {
  const Outcome r = home->Exec("a1", {"slow"});
  EXPECT_EQ(r.status, 124) << r.err;
  EXPECT_TRUE(Eventually([] { return RunProgram({"pgrep", "-f", "sleep 5432"}).status != 0; }, seconds(10)));
}

TEST_F(ToolsTest, KillingTheLauncherCancelsTheTool) {
  home->Sh("a1", "timeout -s KILL 1 probe 'sleep 6543'");
  EXPECT_TRUE(Eventually([] { return RunProgram({"pgrep", "-f", "sleep 6543"}).status != 0; }, seconds(10)));
  ASSERT_TRUE(Eventually([] {
    for (const json& x : home->Audit()) {
      if (x["event"] == "end" && x["tool"] == "probe" && x["outcome"] == "cancelled") return true;
    }
    return false;
  }));
}

TEST_F(ToolsTest, ASignalToTheLauncherReachesTheTool) {
  const Outcome r = home->Sh("a1", "probe 'trap \"echo caught; exit 5\" TERM; echo ready; while :; do sleep 0.1; done' > /tmp/o & p=$!; "
                                   "until grep -q ready /tmp/o; do sleep 0.05; done; kill -TERM $p; wait $p; echo status $?; cat /tmp/o");
  EXPECT_NE(r.out.find("status 5"), std::string::npos) << r.out << r.err;
  EXPECT_NE(r.out.find("caught"), std::string::npos) << r.out;
}

TEST_F(ToolsTest, DataIsKeptPerAgent) {
  EXPECT_EQ(home->Sh("a1", "echo one | keep put").status, 0);
  EXPECT_EQ(home->Exec("a1", {"keep", "get"}).out, "one\n");
  EXPECT_NE(home->Exec("a2", {"keep", "get"}).status, 0);
}

TEST_F(ToolsTest, ASecretReachesTheToolAndNoCommandLine) {
  const Outcome r = home->Exec("a1", {"secret"});
  EXPECT_EQ(r.out.substr(0, 3), "13\n") << r.out << r.err;
  EXPECT_EQ(r.out.find("s3cr3t"), std::string::npos);
  EXPECT_EQ(RunProgram({"sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c s3cr3[t]"}).out, "0\n");
  EXPECT_EQ(home->ReadText("logs/audit.jsonl").find("s3cr3t"), std::string::npos);
}

TEST_F(ToolsTest, TheCellHasNoHomeNoShadowNoNetworkAndACleanEnvironment) {
  EXPECT_NE(home->Exec("a1", {"probe", "cat /etc/shadow"}).status, 0);
  EXPECT_NE(home->Exec("a1", {"probe", "ls " + home->path()}).status, 0);
  EXPECT_EQ(home->Exec("a1", {"probe", "grep -c : /proc/net/dev"}).out, "1\n");
  const std::string environment = home->Exec("a1", {"probe", "env"}).out;
  EXPECT_EQ(environment.find("BEIGE_TEST"), std::string::npos) << environment;
  EXPECT_NE(environment.find("BEIGE_AGENT=a1"), std::string::npos) << environment;
  EXPECT_NE(environment.find("BEIGE_CALL_ID="), std::string::npos);
  EXPECT_NE(home->Exec("a1", {"probe", "touch /tool/x"}).status, 0);
  EXPECT_EQ(home->Exec("a1", {"probe", "pwd; touch x && ls"}).status, 0);
}

TEST_F(ToolsTest, NetworkHostIsTheHosts) { EXPECT_NE(home->Exec("a1", {"web"}).out, "1\n"); }

TEST_F(ToolsTest, AKilledCellIsReplaced) {
  EXPECT_EQ(home->Exec("a1", {"up"}, "x").out, "X");
  const Outcome cells = RunProgram({"pgrep", "-f", "tools/up /tool"});
  ASSERT_EQ(cells.status, 0) << "the cell's bwrap names the tool's folder";
  RunProgram({"pkill", "-KILL", "-f", "tools/up /tool"});
  ASSERT_TRUE(Eventually([] { return home->Exec("a1", {"up"}, "y").out == "Y"; }));
}

TEST_F(ToolsTest, AnUnknownNameIs127AndAudited) {
  const json v1 = home->CallV1("a1", {{"type", "tool_request"}, {"tool", "rm -rf /"}, {"args", json::array()}});
  EXPECT_EQ(v1["exitCode"], 127);
  EXPECT_EQ(home->Audit().back()["tool"], "rm -rf /");
  EXPECT_EQ(home->Audit().back()["decision"], "deny");
}

}  // namespace
}  // namespace beige::e2e
