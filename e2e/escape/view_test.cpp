// What an agent, and a tool that an agent drives, must not see, reach or write.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "e2e/escape/rogue.h"

namespace beige::e2e {
namespace {
using nlohmann::json;

std::string Hex(std::string_view text) {
  std::string out;
  char digits[3];
  for (const unsigned char c : text) {
    std::snprintf(digits, sizeof digits, "%02x", c);
    out += digits;
  }
  return out;
}

TEST_F(EscapeTest, TheHostsEnvironmentFilesAndSecretsAreNowhereInTheSandbox) {
  home->WriteFile("canary.txt", kHostCanary);
  const std::string beside = "/tmp/beige-canary-" + std::to_string(::getpid());
  ASSERT_EQ(RunProgram({"sh", "-c", "printf %s " + std::string(kHostCanary) + " > " + beside}).status, 0);
  ExpectRefused({"find-text", Hex(kHostCanary)});
  ExpectRefused({"find-text", Hex(kToolSecret)});
  ExpectRefused({"find-text", Hex(home->Token())});
  // What is looked for is found where it may be seen: the search works.
  home->Sh("rogue", std::string("printf %s ") + kHostCanary + " > /workspace/own");
  const Outcome own = Attack({"find-text", Hex(kHostCanary)});
  EXPECT_EQ(own.status, 0);
  EXPECT_NE(own.out.find("read /workspace/own: worked"), std::string::npos) << own.out;
  home->Sh("rogue", "rm /workspace/own");
  ::unlink(beside.c_str());
}

TEST_F(EscapeTest, OnlyItsOwnProcessesExistForAnAgent) {
  const Outcome r = home->Sh("rogue", "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done");
  for (const char* other : {"beige-gateway", "beige-operator", "dockerd", "--home", "bwrap", "runner"}) {
    EXPECT_EQ(r.out.find(other), std::string::npos) << r.out;
  }
  // The numbers of the host's processes mean nothing there.
  ASSERT_GT(GatewayPid(), 0);
  ExpectRefused({"kill-all", "2"});
}

TEST_F(EscapeTest, NothingButTheWorkspaceAndTmpCanBeWrittenInAnyWay) { ExpectRefused({"write-everywhere"}); }

TEST_F(EscapeTest, AFileThatIsSetuidGivesNoUid) {
  const std::string workspace = home->GetAgent("rogue")["local"]["workspace"];
  const std::string file = workspace + "/setuid";
  std::filesystem::copy_file(BEIGE_ATTACKER, file, std::filesystem::copy_options::overwrite_existing);
  ASSERT_EQ(::chown(file.c_str(), 0, 0), 0);
  ASSERT_EQ(::chmod(file.c_str(), 06755), 0);
  const std::string uid = home->Sh("rogue", "id -u").out;
  const std::string own = uid.substr(0, uid.size() - 1);
  ASSERT_NE(own, "0");
  EXPECT_EQ(home->Exec("rogue", {"/workspace/setuid", "whoami"}).out, own + " " + own + "\n");
  std::filesystem::remove(file);
}

TEST_F(EscapeTest, NoSocketButItsOwnTwoIsInReach) {
  const Outcome r = Attack({"find-sockets"});
  EXPECT_NE(r.out.find("/beige/gateway.sock"), std::string::npos);
  EXPECT_NE(r.out.find("/beige/control.sock"), std::string::npos);
  EXPECT_EQ(std::count(r.out.begin(), r.out.end(), '\n'), 2) << r.out;
  for (const std::string& path : {EngineSocket(), home->path() + "/run/admin.sock", home->path() + "/run/cli.sock", home->Socket("neighbour"),
                                  std::string("/beige/../beige/admin.sock"), std::string("/proc/1/root") + EngineSocket()}) {
    EXPECT_EQ(Attack({"connect", path}).status, 1) << path;
  }
}

TEST_F(EscapeTest, AnotherAgentsWorkspaceMemoryAndSocketNamesAreAnothers) {
  home->Sh("neighbour", "printf private-canary-90 > /workspace/private");
  ExpectRefused({"find-text", Hex("private-canary-90")});
  const std::string name = "@beige-e2e-" + std::to_string(::getpid());
  const std::string there = home->GetAgent("neighbour")["local"]["workspace"];
  std::filesystem::copy_file(BEIGE_ATTACKER, there + "/attacker", std::filesystem::copy_options::overwrite_existing);
  const std::string key = std::to_string(::getpid());
  EXPECT_EQ(home->Exec("neighbour", {"/workspace/attacker", "shm", "make", key}).status, 0);
  EXPECT_EQ(home->Exec("neighbour", {"/workspace/attacker", "shm", "find", key}).status, 0);
  ExpectRefused({"shm", "find", key});
  home->Sh("neighbour", "/workspace/attacker listen " + name + " 30 > /tmp/listening & sleep 0.2; cat /tmp/listening");
  EXPECT_EQ(home->Exec("neighbour", {"/workspace/attacker", "connect", name}).status, 0);
  ExpectRefused({"connect", name});
  EXPECT_EQ(AttackFromTool("connect " + name).status, 1);
}

TEST_F(EscapeTest, AToolSeesNoSecretOfAnotherToolNorTheHosts) {
  // vault runs meanwhile, with its secret in its environment.
  home->Sh("rogue", "vault '' 8 > /tmp/vault 2>&1 & sleep 0.3");
  EXPECT_EQ(AttackFromTool("find-text " + Hex(kToolSecret)).status, 1);
  EXPECT_EQ(AttackFromTool("find-text " + Hex(kHostCanary)).status, 1);
  EXPECT_EQ(AttackFromTool("find-text " + Hex(home->Token())).status, 1);
  EXPECT_TRUE(Eventually([] { return home->Sh("rogue", "cat /tmp/vault").out == std::to_string(sizeof kToolSecret - 1) + "\n"; }, seconds(20)))
      << "the tool that owns the secret has it: " << home->Sh("rogue", "cat /tmp/vault").out;
}

TEST_F(EscapeTest, AToolCanNeitherWriteNorConnectToNorSignalAnythingOutsideItsCell) {
  const Outcome written = AttackFromTool("write-everywhere");
  EXPECT_EQ(written.status, 1) << written.out << written.err;
  const Outcome sockets = AttackFromTool("find-sockets");
  EXPECT_EQ(sockets.status, 1) << sockets.out;
  EXPECT_EQ(AttackFromTool("kill-all 2").status, 1);
  for (const char* attack : {"ptrace", "memory", "scheduling", "pidfd"}) {
    const Outcome r = AttackFromTool(attack);
    EXPECT_EQ(r.status, 1) << attack << "\n" << r.out;
  }
  // Its runner goes on.
  AttackFromTool("signals");
  EXPECT_EQ(home->Exec("rogue", {"probe", "echo on"}).out, "on\n");
}

TEST_F(EscapeTest, WhatAToolKeepsForOneAgentIsNotThereForAnother) {
  ASSERT_EQ(home->Exec("neighbour", {"vault", "neighbours-own-17"}).status, 0);
  EXPECT_EQ(AttackFromTool("find-text " + Hex("neighbours-own-17")).status, 1);
  ExpectRefused({"find-text", Hex("neighbours-own-17")});
}

}  // namespace
}  // namespace beige::e2e
