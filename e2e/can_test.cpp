// Each row of "An agent CAN" and, in its plain form, of "An agent CANNOT", from inside a live sandbox.
#include <gtest/gtest.h>

#include "base/files.h"
#include "e2e/home.h"

namespace beige::e2e {
namespace {
using nlohmann::json;

class PromiseTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home = std::make_unique<Home>();
    home->Configure("tools:\n  hello: {path: ./tools/hello}\n  other: {path: ./tools/other}\nskills:\n  notes: {path: ./skills/notes}\n");
    home->AddShellTool("hello", "echo hello $1");
    home->AddShellTool("other", "echo other");
    home->WriteFile("skills/notes/SKILL.md", "# Notes\n");
    home->AddAgent("a1", "tools: [{name: hello}]\nskills: [{name: notes}]");
    home->AddAgent("a2", "tools: [{name: other}]");
    home->AddAgent("net", "egress: {mode: open}");
    home->Up();
    for (const char* agent : {"a1", "a2", "net"}) home->WaitReady(agent);
  }
  static void TearDownTestSuite() { home.reset(); }
  static std::unique_ptr<Home> home;
};
std::unique_ptr<Home> PromiseTest::home;

class AgentCan : public PromiseTest {};
class AgentCannot : public PromiseTest {};

TEST_F(AgentCan, ReadAndWriteItsWorkspaceAndFindItAgainAfterARestart) {
  ASSERT_EQ(home->Sh("a1", "mkdir -p /workspace/d && echo kept > /workspace/d/f && cd /workspace && pwd").out, "/workspace\n");
  Engine("POST", "/containers/" + home->ContainerId("a1") + "/kill");
  ASSERT_TRUE(Eventually([] { return home->Sh("a1", "cat /workspace/d/f").out == "kept\n"; }));
}

TEST_F(AgentCan, RunWhatItWrote) {
  EXPECT_EQ(home->Sh("a1", "printf '#!/bin/sh\\necho mine' > /workspace/x && chmod +x /workspace/x && /workspace/x").out, "mine\n");
  EXPECT_EQ(home->Sh("a1", "printf '#!/bin/sh\\necho mine' > /tmp/x && chmod +x /tmp/x && /tmp/x").out, "mine\n");
}

TEST_F(AgentCan, CallItsToolsAsCommands) {
  EXPECT_EQ(home->Sh("a1", "hello world").out, "hello world\n");
  EXPECT_EQ(home->Sh("a1", "command -v hello").out, "/tools/bin/hello\n");
}

TEST_F(AgentCan, ReadToolDocsAndSkills) {
  EXPECT_NE(home->Sh("a1", "cat /tools/packages/hello/README.md").out.find("Tool hello"), std::string::npos);
  EXPECT_EQ(home->Sh("a1", "cat /skills/notes/SKILL.md").out, "# Notes\n");
}

TEST_F(AgentCan, UseTheNetworkAsItsEgressModeSays) {
  EXPECT_EQ(home->Sh("a1", "grep -c : /proc/net/dev").out, "1\n") << "mode none: only lo";
  EXPECT_NE(home->Sh("net", "grep -c : /proc/net/dev").out, "1\n") << "mode open: a bridge of its own";
  EXPECT_EQ(home->ConditionStatus("net", "EgressEnforced"), "False");
  EXPECT_EQ(home->ConditionStatus("a1", "EgressEnforced"), "True");
}

TEST_F(AgentCan, KnowWhoItIs) {
  const Outcome r = home->Sh("a1", "id -u; whoami; echo $BEIGE_AGENT_NAME $HOME");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.substr(0, 2), "0\n") << r.out;
  EXPECT_NE(r.out.find("a1 /workspace\n"), std::string::npos) << r.out;
}

TEST_F(AgentCannot, SeeTheHostsEnvironmentOrProcesses) {
  const std::string environment = home->Sh("a1", "env; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'").out;
  EXPECT_EQ(environment.find("BEIGE_TEST"), std::string::npos) << environment;
  EXPECT_EQ(home->Sh("a1", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '").out.find("beige-gateway"), std::string::npos);
}

TEST_F(AgentCannot, ReadHostFilesOrGatewaySecrets) {
  for (const std::string& path : {home->path(), home->path() + "/api-token", home->path() + "/logs/audit.jsonl", std::string("/etc/shadow"),
                                  std::string("/var/run/docker.sock"), EngineSocket()}) {
    EXPECT_NE(home->Exec("a1", {"cat", path}).status, 0) << path;
  }
  EXPECT_EQ(home->Sh("a1", "cat /proc/self/mountinfo").out.find("docker.sock"), std::string::npos);
}

TEST_F(AgentCannot, WriteAnywhereButWorkspaceAndTmp) {
  for (const char* path : {"/x", "/etc/x", "/tools/bin/x", "/tools/bin/hello", "/tools/packages/x", "/skills/x", "/skills/notes/SKILL.md", "/beige/x",
                           "/beige/bin/x", "/usr/x", "/etc/passwd", "/beige/gateway.sock"}) {
    EXPECT_NE(home->Sh("a1", std::string("echo x > ") + path).status, 0) << path;
    EXPECT_NE(home->Sh("a1", std::string("ln -sf /bin/sh ") + path).status, 0) << path;
  }
}

TEST_F(AgentCannot, ReachMoreWithTheFileToolsOfItsModel) {
  const std::string core = "/beige/bin/beige-sandbox core ";
  for (const std::string path : {"/etc/passwd", "/tools/bin/hello", "/beige/x", "/skills/notes/SKILL.md", "../usr/bin/sh"}) {
    EXPECT_EQ(home->Sh("a1", "printf x | " + core + "write " + path + " 1").status, 1) << path;
  }
  home->Sh("a1", "ln -s " + home->path() + "/api-token /workspace/out; ln -s /dev/zero /workspace/zero; mkfifo /workspace/fifo");
  EXPECT_NE(home->Sh("a1", core + "read out 1 10").err.find("No such file"), std::string::npos);
  const std::string token = ReadFile(home->path() + "/api-token").value_or("");
  home->Sh("a1", "printf x | " + core + "write out 1");
  EXPECT_EQ(ReadFile(home->path() + "/api-token").value_or(""), token);
  EXPECT_EQ(home->Sh("a1", core + "read zero 1 10").err, "zero: is a device, not a file\n");
  EXPECT_EQ(home->Sh("a1", core + "read fifo 1 10").err, "fifo: is a FIFO, not a file\n");
}

TEST_F(AgentCannot, BeOrBecomeRoot) {
  EXPECT_EQ(home->Sh("a1", "grep -E '^(CapEff|CapPrm|CapBnd|CapInh|CapAmb)' /proc/self/status | tr -d '0 \\t\\n' | sed 's/Cap[A-Za-z]*://g'").out, "");
  EXPECT_EQ(home->Sh("a1", "grep NoNewPrivs /proc/self/status | tr -dc 0-9").out, "1");
  EXPECT_EQ(home->Sh("a1", "grep ^Seccomp: /proc/self/status | tr -dc 0-9").out, "2");
  EXPECT_NE(home->Sh("a1", "id -u").out, "0\n");
  EXPECT_NE(home->Sh("a1", "mount -t tmpfs x /mnt").status, 0);
}

TEST_F(AgentCannot, UseAToolOutsideItsList) {
  EXPECT_EQ(home->Sh("a1", "other").status, 127);
  EXPECT_EQ(home->Sh("a1", "/beige/bin/beige-sandbox run other").status, 126);
  const Outcome forged = home->Sh("a1", "ln -s /beige/bin/beige-sandbox /workspace/other; /workspace/other; echo $?");
  EXPECT_NE(forged.out.find("126"), std::string::npos) << forged.out << forged.err;
  EXPECT_NE(forged.err.find("denied by policy: not in tools of agent a1"), std::string::npos) << forged.err;
}

TEST_F(AgentCannot, ImpersonateAnotherAgentByWhatItSends) {
  const json answer = home->CallV1("a1", {{"type", "tool_request"}, {"tool", "other"}, {"args", json::array()}, {"agent", "a2"},
                                          {"agentUid", "x"}, {"sessionContext", {{"agentName", "a2"}}}});
  EXPECT_EQ(answer["exitCode"], 126);
  EXPECT_EQ(home->Audit().back()["agent"], "a1");
}

TEST_F(AgentCannot, ReachAnotherAgent) {
  home->Sh("a2", "echo private > /workspace/p");
  EXPECT_NE(home->Sh("a1", "cat /workspace/p").status, 0);
  EXPECT_EQ(home->Sh("a1", "ls /beige").out.find("a2"), std::string::npos);
  EXPECT_EQ(home->Sh("a1", "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'a[2]'").out, "0\n");
}

TEST_F(AgentCannot, ReachTheEngineOrTheAdminSocket) {
  const std::string found = home->Sh("a1", "find / -type s -not -path '/proc/*' 2>/dev/null | sort").out;
  EXPECT_EQ(found, "/beige/control.sock\n/beige/gateway.sock\n");
}

TEST_F(AgentCannot, ActUnlogged) {
  const size_t before = home->Audit().size();
  home->Sh("a1", "hello 1; hello 2; /beige/bin/beige-sandbox run other");
  size_t tool_begins = 0;
  const auto records = home->Audit();
  for (size_t i = before; i < records.size(); ++i) tool_begins += records[i]["event"] == "begin" && records[i]["kind"] == "tool";
  EXPECT_EQ(tool_begins, 3u);
  for (size_t i = 1; i < records.size(); ++i) EXPECT_EQ(records[i]["seq"].get<int64_t>(), records[i - 1]["seq"].get<int64_t>() + 1);
}

TEST_F(AgentCannot, RegisterAsTheControlChannelASecondTime) {
  // A well-formed preamble and HELLO of a stranger: refused, and the real one keeps working.
  const Outcome r = home->Sh("a1", "printf 'BGE2\\002\\002\\002\\000\\000\\000\\000\\000\\000\\000\\000\\000' > /tmp/h; "
                                   "printf '\\045\\000\\000\\000\\000\\000\\000\\000\\014\\000\\000\\000\\012\\040\\000\\000\\000' >> /tmp/h; head -c 32 /dev/zero >> /tmp/h; "
                                   "(cat /tmp/h; sleep 2) | timeout 5 nc local:/beige/control.sock 2>&1; (cat /tmp/h; sleep 2) | timeout 5 nc -U /beige/control.sock 2>&1; true");
  EXPECT_EQ(r.out.find('\r'), std::string::npos);
  EXPECT_EQ(home->Exec("a1", {"true"}).status, 0);
}

}  // namespace
}  // namespace beige::e2e
