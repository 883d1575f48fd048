// What an agent plants in its workspace, met by tools that work there: the workspace is all that those tools can be led through.
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/files.h"
#include "e2e/escape/rogue.h"

namespace beige::e2e {
namespace {
// A program of the agent's own, that git or npm will start in the tool's cell: says what it can see and do there.
constexpr char kPlanted[] = R"(#!/bin/sh
{
  id -u
  echo "ran as $0"
  env
  cat "$HOSTHOME/vault.txt" "$HOSTHOME/operator.yaml" /etc/shadow
  ls "$HOSTHOME" /run /root
  echo owned >> "$HOSTHOME/operator.yaml"
  python3 - "$HOSTHOME" <<'END'
import socket, sys
for name in ("run/cli.sock", "run/admin.sock"):
    try:
        socket.socket(socket.AF_UNIX).connect(sys.argv[1] + "/" + name)
        print("CONNECTED", name)
    except OSError:
        pass
try:
    socket.create_connection(("127.0.0.1", 7433), 1)
    print("CONNECTED http")
except OSError:
    pass
END
} >> /workspace/planted.out 2>/dev/null
exit 0
)";

class PlantedTest : public EscapeTest {
 protected:
  void SetUp() override {
    workspace_ = home->GetAgent("rogue")["local"]["workspace"];
    std::string script = kPlanted;
    for (size_t at; (at = script.find("$HOSTHOME")) != std::string::npos;) script.replace(at, 9, home->path());
    ASSERT_EQ(home->Sh("rogue", "rm -rf /workspace/repo /workspace/planted.out; mkdir -p /workspace/repo; cat > /workspace/evil.sh; chmod +x /workspace/evil.sh", script).status, 0);
    operator_yaml_ = home->ReadText("operator.yaml");
  }
  // It ran, as it may, and got nothing.
  void ExpectCaged() {
    const std::string seen = ReadFile(workspace_ + "/planted.out").value_or("");
    ASSERT_FALSE(seen.empty()) << "the planted program did not even run";
    struct stat st {};
    ASSERT_EQ(::stat((workspace_ + "/evil.sh").c_str(), &st), 0);
    EXPECT_EQ(seen.substr(0, seen.find('\n')), std::to_string(st.st_uid)) << "the agent's own uid";
    for (const char* secret : {kHostCanary, kToolSecret, "root:", "kind: OperatorConfig", "CONNECTED", "gateway.json", "BEIGE_E2E_CANARY"}) {
      EXPECT_EQ(seen.find(secret), std::string::npos) << secret << " in:\n" << seen;
    }
    EXPECT_EQ(home->ReadText("operator.yaml"), operator_yaml_);
    ExpectNeighbourWorks();
  }
  std::string workspace_;
  std::string operator_yaml_;
};

TEST_F(PlantedTest, GitsFsmonitorAndHooksOfAnAgentRunInTheToolsCellAndReachNothing) {
  ASSERT_EQ(home->Sh("rogue", "cd /workspace/repo && mkdir -p .git/objects .git/refs/heads .git/hooks && echo 'ref: refs/heads/main' > .git/HEAD && "
                              "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = /workspace/evil.sh\\n\\tpager = /workspace/evil.sh\\n\\teditor = /workspace/evil.sh\\n' > .git/config && "
                              "for hook in pre-commit post-commit post-checkout; do cp /workspace/evil.sh .git/hooks/$hook; done").status, 0);
  const Outcome r = home->Exec("rogue", {"vcs", "echo x > repo/file; git -C repo add -A; git -C repo -c user.name=x -c user.email=x@example.com commit --allow-empty -m x; "
                                                "git -C repo checkout -b other"});
  EXPECT_EQ(r.out.find(kToolSecret), std::string::npos);
  ExpectCaged();
  const std::string seen = ReadFile(workspace_ + "/planted.out").value_or("");
  for (const char* name : {"evil.sh", "pre-commit", "post-commit", "post-checkout"}) {
    EXPECT_NE(seen.find(std::string(name) + "\n"), std::string::npos) << name << " never ran: " << r.out << r.err << seen.substr(0, 2000);
  }
}

TEST_F(PlantedTest, NpmsConfigurationAndScriptsOfAnAgentRunInTheToolsCellAndReachNothing) {
  ASSERT_EQ(home->Sh("rogue", "cd /workspace/repo && echo 'script-shell=/workspace/evil.sh' > .npmrc && "
                              "echo '{\"name\":\"x\",\"version\":\"1.0.0\",\"scripts\":{\"build\":\"true\"}}' > package.json").status, 0);
  static_cast<void>(home->Exec("rogue", {"vcs", "cd repo && npm run build"}));
  ExpectCaged();
}

TEST_F(PlantedTest, LinksLeadAToolToNothingOutside) {
  const std::string there = home->GetAgent("neighbour")["local"]["workspace"];
  home->Sh("neighbour", "echo neighbours-own > /workspace/own");
  struct stat before {};
  ASSERT_EQ(::stat((home->path() + "/vault.txt").c_str(), &before), 0);
  for (const std::string& target : {home->path() + "/vault.txt", home->path() + "/operator.yaml", there + "/own", std::string("/etc/shadow"),
                                    std::string("/proc/1/root") + home->path() + "/vault.txt"}) {
    ASSERT_EQ(home->Sh("rogue", "ln -sfn '" + target + "' /workspace/repo/link").status, 0);
    const Outcome r = home->Exec("rogue", {"vcs", "cat repo/link; echo owned > repo/link; chmod 0777 repo/link; truncate -s 0 repo/link; touch -d @0 repo/link; rm -f repo/link/x"});
    EXPECT_EQ(r.out, "") << target;
  }
  struct stat after {};
  ASSERT_EQ(::stat((home->path() + "/vault.txt").c_str(), &after), 0);
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
  EXPECT_EQ(home->ReadText("vault.txt"), std::string(kToolSecret) + "\n");
  EXPECT_EQ(home->ReadText("operator.yaml"), operator_yaml_);
  EXPECT_EQ(ReadFile(there + "/own").value_or(""), "neighbours-own\n");
}

TEST_F(PlantedTest, LinksLeadAToolsConnectToNoSocketOutside) {
  const auto connect = [](const std::string& before) {
    return home->Exec("rogue", {"vcs", "python3 -c 'import os, socket\n" + before + "socket.socket(socket.AF_UNIX).connect(\"repo/link\")\nprint(\"CONNECTED\")'"});
  };
  const Outcome own = connect("l = socket.socket(socket.AF_UNIX); l.bind(\"/tmp/own\"); l.listen(); os.symlink(\"/tmp/own\", \"repo/link\")\n");
  ASSERT_EQ(own.out, "CONNECTED\n") << "a link to a socket within the cell: " << own.err;
  const std::string gateway = home->Socket("neighbour");
  for (const std::string& target : {home->path() + "/run/admin.sock", home->path() + "/run/cli.sock", gateway, gateway.substr(0, gateway.rfind('/')) + "/control.sock", EngineSocket()}) {
    ASSERT_TRUE(Exists(target)) << target;
    ASSERT_EQ(home->Sh("rogue", "ln -sfn '" + target + "' /workspace/repo/link").status, 0);
    const Outcome r = connect("");
    EXPECT_NE(r.status, 0) << target;
    EXPECT_EQ(r.out, "") << target;
  }
}

TEST_F(PlantedTest, ADeviceInTheWorkspaceIsNoneInAToolsCell) {
  // No agent can make one; what it would find in a workspace that a person copied there is made by the test.
  const std::string device = workspace_ + "/repo/zero";
  if (::mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 5)) != 0) GTEST_SKIP() << "needs root: it makes a device";
  ASSERT_EQ(::chmod(device.c_str(), 0666), 0);
  ASSERT_EQ(RunProgram({"head", "-c", "4", device}).out, std::string(4, '\0')) << "it works where devices may";
  const Outcome r = home->Exec("rogue", {"vcs", "ls -l repo/zero; head -c 4 repo/zero | wc -c; echo x > repo/zero || echo refused"});
  EXPECT_EQ(r.out.find("c"), 0u) << "the tool sees what it is: " << r.out;
  EXPECT_NE(r.out.find("\n0\nrefused\n"), std::string::npos) << r.out << r.err;
  const Outcome through = home->Exec("rogue", {"vcs", "ln -sfn zero repo/link; head -c 4 repo/link | wc -c"});
  EXPECT_EQ(through.out, "0\n");
}

TEST_F(PlantedTest, AFifoHoldsUpTheCallThatReadsItAndNothingElse) {
  ASSERT_EQ(home->Sh("rogue", "mkfifo /workspace/repo/fifo").status, 0);
  EXPECT_EQ(home->Exec("rogue", {"vcs", "timeout 1 cat repo/fifo"}).status, 124);
  EXPECT_EQ(home->Exec("rogue", {"vcs", "echo on"}).out, "on\n");
  ExpectNeighbourWorks();
}

TEST_F(PlantedTest, WhatAToolWritesInTheWorkspaceBelongsToTheAgent) {
  EXPECT_EQ(home->Exec("rogue", {"vcs", "echo made > made-by-tool"}).status, 0);
  EXPECT_EQ(home->Sh("rogue", "echo more >> /workspace/made-by-tool && cat /workspace/made-by-tool").out, "made\nmore\n");
}

}  // namespace
}  // namespace beige::e2e
