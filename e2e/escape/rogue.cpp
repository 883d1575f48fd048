#include "e2e/escape/rogue.h"

#include <signal.h>

#include <cstdlib>
#include <filesystem>

namespace beige::e2e {
namespace {
namespace fs = std::filesystem;

void Plant(const std::string& path) {
  fs::copy_file(BEIGE_ATTACKER, path, fs::copy_options::overwrite_existing);
  fs::permissions(path, fs::perms(0755));
}
}  // namespace

std::unique_ptr<Home> EscapeTest::home;

void EscapeTest::SetUpTestSuite() {
  ::setenv("BEIGE_E2E_CANARY", kHostCanary, 1);
  home = std::make_unique<Home>();
  home->Configure("tools:\n  hello: {path: ./tools/hello}\n  probe: {path: ./tools/probe}\n  vault: {path: ./tools/vault}\n  vcs: {path: ./tools/vcs}\n");
  home->AddShellTool("hello", "echo hello $1");
  home->AddShellTool("probe", "eval \"$1\"", "timeout: 50s\n");
  home->WriteFile("vault.txt", std::string(kToolSecret) + "\n", 0600);
  home->AddShellTool("vault", "echo ${#TOKEN}; [ -z \"$1\" ] || echo \"$1\" > $BEIGE_TOOL_DATA/kept; [ -z \"$2\" ] || sleep \"$2\"",
                     "secrets: {TOKEN: {file: ../../vault.txt}}\n");
  home->AddShellTool("vcs", "cd \"$BEIGE_WORKSPACE\" && eval \"$1\"", "workspace: rw\n");
  Plant(home->path() + "/tools/probe/attacker");
  home->AddAgent("rogue", "tools: [{name: hello}, {name: probe}, {name: vault}, {name: vcs}]\nsandbox: {pidsLimit: 64, resources: {limits: {memory: 64Mi}}}");
  home->AddAgent("neighbour", "tools: [{name: hello}, {name: vault}]");
  home->Up();
  home->WaitReady("rogue");
  home->WaitReady("neighbour");
  const std::string workspace = home->GetAgent("rogue")["local"]["workspace"];
  Plant(workspace + "/attacker");
}

void EscapeTest::TearDownTestSuite() {
  home.reset();
  ::unsetenv("BEIGE_E2E_CANARY");
}

Outcome EscapeTest::Attack(std::vector<std::string> args) {
  args.insert(args.begin(), "/workspace/attacker");
  return home->Exec("rogue", args);
}

Outcome EscapeTest::AttackFromTool(const std::string& arguments) { return home->Exec("rogue", {"probe", "/tool/attacker " + arguments}); }

void EscapeTest::ExpectRefused(std::vector<std::string> args) {
  const Outcome r = Attack(std::move(args));
  EXPECT_EQ(r.status, 1) << r.out << r.err;
}

void EscapeTest::ExpectAlive(const std::string& container) {
  EXPECT_TRUE(Eventually([] { return home->Exec("rogue", {"hello", "x"}).out == "hello x\n"; }, seconds(20)));
  EXPECT_EQ(home->ContainerId("rogue"), container);
}

void EscapeTest::ExpectNeighbourWorks() { EXPECT_EQ(home->Exec("neighbour", {"hello", "n"}).out, "hello n\n"); }

pid_t EscapeTest::GatewayPid() { return home->Info("data/gateway/gateway.json").value("pid", 0); }

void EscapeTest::KillGateway() {
  const pid_t pid = GatewayPid();
  ASSERT_GT(pid, 1);
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
}

}  // namespace beige::e2e
