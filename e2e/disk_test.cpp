// A small disk of its own under a home: who fills it is stopped, and nobody else.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/files.h"
#include "e2e/home.h"

namespace beige::e2e {
namespace {

struct Unmount {
  ~Unmount() {
    if (path.empty()) return;
    (void)::umount2(path.c_str(), MNT_DETACH);
    (void)::rmdir(path.c_str());
  }
  std::string path;
};

// A home on a disk of 96 MiB, of which 16 are to stay free, with agents `loud` and `quiet`.
class DiskPressureTest : public ::testing::Test {
 protected:
  void SetUp() override { Make(""); }
  void Make(const std::string& options) {
    // Mounted where the engine sees it, too.
    if (::mount("tmpfs", home.path().c_str(), "tmpfs", 0, ("size=96m,mode=700" + options).c_str()) != 0) GTEST_SKIP() << "needs root: it mounts a small disk";
    small.path = home.path();
    home.Configure("tools:\n  hello: {path: ./tools/hello}\n  keep: {path: ./tools/keep}\n", "disk: {minFree: 16Mi}\n");
    home.AddShellTool("hello", "echo hello");
    home.AddShellTool("keep", "dd if=/dev/zero of=$BEIGE_TOOL_DATA/kept bs=1M count=\"$1\"");
    for (const char* agent : {"loud", "quiet"}) home.AddAgent(agent, "tools: [{name: hello}, {name: keep}]");
    home.Up();
    for (const char* agent : {"loud", "quiet"}) home.WaitReady(agent);
    quiet = home.ContainerId("quiet");
    started = Started();
  }
  std::string Started() const { return Engine("GET", "/containers/" + quiet + "/json")["State"].value("StartedAt", ""); }
  bool IsStopped(const std::string& agent) const { return !Engine("GET", "/containers/" + home.ContainerId(agent) + "/json")["State"].value("Running", true); }
  void ExpectLoudAloneStops() {
    ASSERT_TRUE(Eventually([&] { return home.ReadText("data/operator/events/events.jsonl").find("DiskPressure") != std::string::npos; }));
    ExpectQuietWorks();
    EXPECT_EQ(home.ReadText("data/operator/events/events.jsonl").find("quiet\",\"reason\":\"DiskPressure"), std::string::npos);
  }
  void ExpectQuietWorks() {
    EXPECT_TRUE(Eventually([&] { return home.Exec("quiet", {"hello"}).out == "hello\n"; }));
    EXPECT_EQ(home.ContainerId("quiet"), quiet);
    EXPECT_EQ(Started(), started);
  }
  Unmount small;  // after the home is down
  Home home;
  std::string quiet;
  std::string started;
};

TEST_F(DiskPressureTest, AnAgentThatFillsTheDiskIsStoppedAloneAndGoesOnWhenThereIsSpace) {
  EXPECT_EQ(home.Exec("quiet", {"sh", "-c", "dd if=/dev/zero of=/workspace/some bs=1M count=2 2>/dev/null"}).status, 0);
  // First so much that space is short (less than twice minFree), then, when that was seen, more.
  EXPECT_EQ(home.Sh("loud", "dd if=/dev/zero of=/workspace/all bs=1M count=62 2>/dev/null").status, 0);
  EXPECT_EQ(home.ConditionStatus("loud", "Ready"), "True");
  EXPECT_EQ(home.Sh("loud", "(sleep 7; dd if=/dev/zero of=/workspace/more bs=1M count=14) >/dev/null 2>&1 &").status, 0);
  ASSERT_TRUE(Eventually([&] { return home.ConditionReason("loud", "Ready") == "DiskPressure"; }));
  EXPECT_EQ(home.ConditionStatus("quiet", "Ready"), "True");
  EXPECT_NE(home.Beige({"describe", "agent", "loud"}).out.find("minFree of 16 MiB"), std::string::npos);
  // A person makes room.
  ASSERT_TRUE(RemoveFile(home.path() + "/agents/default/loud/workspace/all"));
  home.WaitReady("loud");
  EXPECT_EQ(home.Exec("loud", {"hello"}).out, "hello\n");
  ExpectQuietWorks();
}

TEST_F(DiskPressureTest, AnUnlinkedFileStopsWhoHoldsItOpenAndThatGivesTheSpaceBack) {
  EXPECT_EQ(home.Sh("loud", "(exec 3>/workspace/x; rm /workspace/x; dd if=/dev/zero bs=1M count=84 >&3; sleep 600) >/dev/null 2>&1 &").status, 0);
  ExpectLoudAloneStops();
  home.WaitReady("loud");
  EXPECT_EQ(home.Exec("loud", {"hello"}).out, "hello\n") << "without anybody's help";
}

TEST_F(DiskPressureTest, AFileThatNoWalkReachesStopsWhoHidIt) {
  EXPECT_EQ(home.Sh("loud", "mkdir -p /workspace/deep; cd /workspace/deep; for i in $(seq 101); do mkdir d; cd d; done; dd if=/dev/zero of=hidden bs=1M count=84 2>/dev/null").status, 0);
  ExpectLoudAloneStops();
  EXPECT_NE(home.Beige({"describe", "agent", "loud"}).out.find("where it is not counted"), std::string::npos);
  ASSERT_TRUE(RemoveTree(home.path() + "/agents/default/loud/workspace/deep"));
  home.WaitReady("loud");
}

TEST_F(DiskPressureTest, AFileBehindTwoHundredThousandOthersStopsWhoHidIt) {
  // Before and behind it, whichever way the file system lists them. Made by the test: what a kernel keeps of so many would end the sandbox.
  ASSERT_EQ(home.Sh("loud", "cd /workspace && mkdir a && mkdir m && mkdir z").status, 0);
  const std::string there = home.path() + "/agents/default/loud/workspace/";
  for (const char* dir : {"a", "z"}) ASSERT_EQ(RunProgram({"sh", "-c", "cd " + there + dir + " && seq 200001 | xargs touch"}).status, 0);
  EXPECT_EQ(home.Sh("loud", "dd if=/dev/zero of=/workspace/m/hidden bs=1M count=84 2>/dev/null").status, 0);
  ExpectLoudAloneStops();
}

TEST_F(DiskPressureTest, WhatAToolKeepsForAnAgentIsLaidToThatAgent) {
  EXPECT_EQ(home.Sh("loud", "keep 84 2>/dev/null").status, 0);
  ExpectLoudAloneStops();
}

class FullOfFilesTest : public DiskPressureTest {
 protected:
  void SetUp() override { Make(",nr_inodes=4000"); }
};

TEST_F(FullOfFilesTest, EmptyFilesWithoutEndStopWhoMakesThem) {
  home.Sh("loud", "mkdir /workspace/e; cd /workspace/e; seq 5000 | xargs touch 2>/dev/null");
  ASSERT_TRUE(Eventually([&] { return IsStopped("loud"); }));
  ExpectQuietWorks();
  // A person makes room.
  ASSERT_TRUE(RemoveTree(home.path() + "/agents/default/loud/workspace/e"));
  // Its status could not be written meanwhile: it may say Ready too early.
  EXPECT_TRUE(Eventually([&] { return home.Exec("loud", {"hello"}).out == "hello\n"; }));
  ExpectQuietWorks();
}

}  // namespace
}  // namespace beige::e2e
