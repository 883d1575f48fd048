// Tools that see the agent's workspace, in which the agent plants what it likes.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "base/unix_socket.h"
#include "gateway/tools/cell_recipe.h"
#include "tests/gateway/core/client.h"
#include "tests/gateway/core/core.h"

namespace beige::testing {
namespace {
using nlohmann::json;

class CellWorkspaceTest : public ::testing::Test {
 protected:
  CellWorkspaceTest() : workspace_(core_.paths().Workspace(Core::RefOf("a1").key())), secret_(core_.paths().home() + "/outside") {
    (void)MakeDirs(workspace_ + "/sub", 0755);
    (void)MakeDirs(secret_, 0755);
    if (::geteuid() == 0) {  // as the operator gives it to the agent, which is never root
      owner_ = 200001;
      for (const auto& path : {workspace_, workspace_ + "/sub"}) EXPECT_EQ(::chown(path.c_str(), owner_, owner_), 0);
    }
    std::ofstream(secret_ + "/secret") << "secret\n";
    ::chmod((secret_ + "/secret").c_str(), 0640);
  }
  void Ready(ToolWorkspace workspace, const std::string& script, std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
    auto& tool = core_.AddTool("t", "#!/bin/sh\n" + script + "\n");
    tool.workspace = workspace;
    tool.timeout = timeout;
    core_.Configure();
    core_.Grant("a1", {"t"});
  }
  json Call(const std::string& cwd, std::vector<std::string> args = {}) {
    return Client(core_.SocketOf("a1")).Ask({{"type", "tool_request"}, {"tool", "t"}, {"args", args}, {"cwd", cwd}});
  }

  Core core_;
  const std::string workspace_;
  const std::string secret_;
  uid_t owner_ = ::geteuid();  // of the workspace
};

TEST_F(CellWorkspaceTest, WhatAToolWritesBelongsToTheAgent) {
  Ready(ToolWorkspace::kReadWrite, "echo \"$BEIGE_WORKSPACE\"; pwd; echo made > made; mkdir d; mv made d/moved");
  EXPECT_EQ(Call("/workspace/sub")["output"], "/workspace\n/workspace/sub\n");
  struct stat info {};
  ASSERT_EQ(::stat((workspace_ + "/sub/d/moved").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, owner_);
  EXPECT_EQ(ReadFile(workspace_ + "/sub/d/moved").value_or(""), "made\n");
}

TEST_F(CellWorkspaceTest, ReadOnlyIsReadOnly) {
  std::ofstream(workspace_ + "/f") << "text\n";
  Ready(ToolWorkspace::kReadOnly, "cat f; for c in 'echo x > f' 'rm f' 'mkdir d' 'chmod 777 f' 'ln -s f l'; do sh -c \"$c\" 2>/dev/null && echo \"did $c\"; done; true");
  EXPECT_EQ(Call("/workspace")["output"], "text\n");
}

TEST_F(CellWorkspaceTest, TheCallersDirectoryIsAClaim) {
  ASSERT_EQ(::symlink("/data", (workspace_ + "/to-data").c_str()), 0);
  ASSERT_EQ(::symlink("../../../../../../..", (workspace_ + "/up").c_str()), 0);
  ASSERT_EQ(::symlink("sub", (workspace_ + "/to-sub").c_str()), 0);
  ASSERT_EQ(::symlink("/proc/self/root", (workspace_ + "/magic").c_str()), 0);
  Ready(ToolWorkspace::kReadWrite, "pwd -P");
  for (const char* root : {"", "/workspace", "/workspace/", "/tmp", "/", "/workspaces/x", "/etc", "."}) EXPECT_EQ(Call(root)["output"], "/workspace\n") << root;
  for (const char* inside : {"sub", "/workspace/sub", "/workspace//sub", "to-sub", "sub/../sub"}) EXPECT_EQ(Call(inside)["output"], "/workspace/sub\n") << inside;
  for (const char* out : {"to-data", "/workspace/to-data", "up", "..", "/workspace/../data", "sub/../..", "magic/data"}) {
    const json answer = Call(out);
    EXPECT_EQ(answer["exitCode"], 126) << out << answer.dump();
    EXPECT_NE(answer["error"].get<std::string>().find("leads out of the workspace"), std::string::npos) << answer.dump();
  }
  EXPECT_NE(Call("gone")["error"].get<std::string>().find("No such file or directory"), std::string::npos);
  EXPECT_EQ(DirectoryInWorkspace(std::string(5000, 'x')), ".");
}

TEST_F(CellWorkspaceTest, PlantedLinksLeadToolsToNothingOutside) {
  const auto listener = ListenUnix(secret_ + "/socket", 0666);
  ASSERT_TRUE(listener);
  const std::pair<std::string, std::string> links[] = {{"secret", secret_ + "/secret"}, {"dir", secret_}, {"socket", secret_ + "/socket"}, {"shadow", "/etc/shadow"},
                                                       {"home", core_.paths().home()}, {"up", "../../../../outside/secret"}, {"root", "/proc/1/root" + secret_ + "/secret"},
                                                       {"gateway", core_.SocketOf("a1")}};
  for (const auto& [name, target] : links) ASSERT_EQ(::symlink(target.c_str(), (workspace_ + "/" + name).c_str()), 0);
  Ready(ToolWorkspace::kReadWrite,
        "for l in secret dir/secret up root shadow home/outside/secret; do\n"
        "  cat $l && echo read $l; (echo x >> $l) && echo wrote $l; chmod 777 $l && echo chmod $l; truncate -s 0 $l && echo truncated $l; touch $l && echo touched $l\n"
        "done 2>/dev/null\n"
        "for s in socket dir/socket gateway; do\n"
        "  python3 -c \"import socket,sys; socket.socket(socket.AF_UNIX).connect('$s'); print('connected $s')\" 2>/dev/null\n"
        "done; ls dir/ home/ 2>/dev/null; echo end");
  EXPECT_EQ(Call("/workspace")["output"], "end\n");
  struct stat info {};
  ASSERT_EQ(::stat((secret_ + "/secret").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
  EXPECT_EQ(ReadFile(secret_ + "/secret").value_or(""), "secret\n");
}

TEST_F(CellWorkspaceTest, AFifoHoldsUpOnlyItsOwnCallAndADeviceIsNone) {
  ASSERT_EQ(::mkfifo((workspace_ + "/fifo").c_str(), 0666), 0);
  const bool device = ::mknod((workspace_ + "/zero").c_str(), S_IFCHR | 0666, makedev(1, 5)) == 0;  // root's agents only
  Ready(ToolWorkspace::kReadWrite, "case $1 in fifo) cat fifo;; *) head -c 1 zero 2>&1 >/dev/null | grep -o 'Permission denied'; mknod n c 1 5 2>/dev/null && echo made; echo end;; esac",
        std::chrono::milliseconds(400));
  EXPECT_EQ(Call("/workspace", {"fifo"})["exitCode"], 124);
  EXPECT_EQ(Call("/workspace", {"device"})["output"], device ? "Permission denied\nend\n" : "end\n");
}

TEST_F(CellWorkspaceTest, WithoutItInTheManifestThereIsNone) {
  Ready(ToolWorkspace::kNone, "test -e /workspace && echo seen; echo \"${BEIGE_WORKSPACE-unset}\"; pwd");
  EXPECT_EQ(Call("/workspace/sub")["output"], "unset\n/scratch\n");
}

TEST_F(CellWorkspaceTest, AToolHasTheUidOfAnAgentThatHasOneOfItsOwnAndNoWayBack) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root's agents have uids of their own";
  ASSERT_EQ(::chown(workspace_.c_str(), 200001, 200002), 0);
  ASSERT_EQ(::chmod(workspace_.c_str(), 0700), 0);
  Ready(ToolWorkspace::kReadWrite,
        "id -u; id -g; id -G; test -r /etc/passwd -a -x /etc/ssl && echo etc; echo made > made && echo kept >> /data/kept && touch /tmp/t /scratch/s && echo wrote; grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status | grep -v 0000000000000000\n"
        "python3 -c 'import os; os.setuid(0)' 2>&1 | tail -1; cat /proc/1/environ 2>/dev/null; touch /tool/x 2>/dev/null && echo tool; kill -9 1 2>/dev/null; true");
  EXPECT_EQ(Call("")["output"], "200001\n200002\n200002\netc\nwrote\nPermissionError: [Errno 1] Operation not permitted\n");
  struct stat info {};
  ASSERT_EQ(::stat((workspace_ + "/made").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 200001u);
  EXPECT_EQ(info.st_gid, 200002u);
  EXPECT_EQ(info.st_mode & 07777, 0644u);
  EXPECT_EQ(ReadFile(core_.paths().ToolData(Core::UidOf("a1"), "t") + "/kept").value_or(""), "kept\n");
}

}  // namespace
}  // namespace beige::testing
