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

TEST(DiskPressureTest, AnAgentThatFillsTheDiskIsStoppedAloneAndGoesOnWhenThereIsSpace) {
  Unmount small;
  Home home;
  // Mounted where the engine sees it, too.
  if (::mount("tmpfs", home.path().c_str(), "tmpfs", 0, "size=96m,mode=700") != 0) GTEST_SKIP() << "needs root: it mounts a small disk";
  small.path = home.path();
  home.Configure("tools:\n  hello: {path: ./tools/hello}\n", "disk: {minFree: 16Mi}\n");
  home.AddShellTool("hello", "echo hello");
  for (const char* agent : {"loud", "quiet"}) home.AddAgent(agent, "tools: [{name: hello}]");
  home.Up();
  for (const char* agent : {"loud", "quiet"}) home.WaitReady(agent);
  const std::string quiet = home.ContainerId("quiet");
  EXPECT_EQ(home.Exec("quiet", {"sh", "-c", "dd if=/dev/zero of=/workspace/some bs=1M count=2 2>/dev/null"}).status, 0);
  // First so much that space is short (less than twice minFree), then, when that was seen, more.
  EXPECT_EQ(home.Sh("loud", "dd if=/dev/zero of=/workspace/all bs=1M count=62 2>/dev/null").status, 0);
  EXPECT_EQ(home.ConditionStatus("loud", "Ready"), "True");
  EXPECT_EQ(home.Sh("loud", "(sleep 7; dd if=/dev/zero of=/workspace/more bs=1M count=14) >/dev/null 2>&1 &").status, 0);
  ASSERT_TRUE(Eventually([&] { return home.ConditionReason("loud", "Ready") == "DiskPressure"; }));
  EXPECT_EQ(home.ConditionStatus("quiet", "Ready"), "True");
  EXPECT_EQ(home.ContainerId("quiet"), quiet);
  EXPECT_NE(home.Beige({"describe", "agent", "loud"}).out.find("minFree of 16 MiB"), std::string::npos);
  // A person makes room.
  ASSERT_TRUE(RemoveFile(home.path() + "/agents/default/loud/workspace/all"));
  home.WaitReady("loud");
  EXPECT_EQ(home.Exec("loud", {"hello"}).out, "hello\n");
  EXPECT_EQ(home.Exec("quiet", {"hello"}).out, "hello\n");
}

}  // namespace
}  // namespace beige::e2e
