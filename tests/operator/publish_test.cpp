#include "operator/reconcile/publish.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "operator/reconcile/desired.h"
#include "operator/reconcile/prepare.h"
#include "operator/reconcile/sandbox_record.h"
#include "operator/reconcile/spec_builder.h"
#include "tests/operator/temp_dir.h"

namespace beige {
namespace {
using testing::TempDir;

struct stat Stat(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info;
}

Identity Someone() {
  Identity identity;
  identity.agent.metadata.name = "one";
  identity.agent.metadata.uid = "11112222-3333-4444-5555-666677778888";
  identity.sandbox_uid = ::geteuid() == 0 ? 200007 : ::geteuid();
  identity.sandbox_gid = ::geteuid() == 0 ? 200007 : ::getegid();
  return identity;
}

TEST(PublishTest, TheBinaryIsPublishedOnceExecutableOnlyAndNeverReplaced) {
  TempDir home;
  HomePaths paths(home.path());
  home.Write("beige-sandbox", "build one");
  const auto first = PublishSandboxBinary(paths, "1.0", home / "beige-sandbox");
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(*first, home / "bin/1.0");
  EXPECT_EQ(Stat(*first + "/beige-sandbox").st_mode & 07777, 0111u);
  EXPECT_EQ(Stat(*first).st_mode & 07777, 0755u);
  const auto inode = Stat(*first + "/beige-sandbox").st_ino;
  EXPECT_EQ(*PublishSandboxBinary(paths, "1.0", home / "beige-sandbox"), *first);
  EXPECT_EQ(Stat(*first + "/beige-sandbox").st_ino, inode);

  home.Write("beige-sandbox", "another build of the same version");
  const auto other = PublishSandboxBinary(paths, "1.0", home / "beige-sandbox");
  ASSERT_TRUE(other);
  EXPECT_NE(*other, *first) << "running sandboxes have the first one mounted";
  EXPECT_EQ(Stat(*first + "/beige-sandbox").st_ino, inode);
  EXPECT_EQ(*PublishSandboxBinary(paths, "1.0", home / "beige-sandbox"), *other);
}

TEST(PublishTest, AMissingBinaryIsSaid) {
  TempDir home;
  const auto none = PublishSandboxBinary(HomePaths(home.path()), "1.0", home / "nope");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("nope"), std::string::npos);
}

TEST(PrepareTest, TheWorkspaceBelongsToTheSandboxAloneWithAllThatAnEarlierOneLeft) {
  TempDir home;
  HomePaths paths(home.path());
  const Identity identity = Someone();
  const std::string workspace = paths.Workspace(identity.agent.key());
  ASSERT_TRUE(MakeDirs(workspace + "/deep/er", 0700));
  ASSERT_TRUE(WriteFileAtomic(workspace + "/deep/file", "x", 0600));
  home.Write("outside", "x");
  ASSERT_EQ(::symlink((home / "outside").c_str(), (workspace + "/link").c_str()), 0);
  ASSERT_TRUE(PrepareDirectories(paths, identity));
  EXPECT_EQ(Stat(workspace).st_uid, identity.sandbox_uid);
  EXPECT_EQ(Stat(workspace).st_mode & 07777, 0700u);
  EXPECT_EQ(Stat(workspace + "/deep/er").st_uid, identity.sandbox_uid);
  EXPECT_EQ(Stat(workspace + "/deep/file").st_uid, identity.sandbox_uid);
  EXPECT_EQ(Stat(home / "outside").st_uid, ::geteuid()) << "a link of the agent's led out of the workspace";
  const std::string passwd = paths.EtcDir(identity.uid()) + "/passwd";
  EXPECT_NE(ReadFile(passwd)->find("agent:x:" + std::to_string(identity.sandbox_uid) + ":"), std::string::npos);
  EXPECT_EQ(Stat(passwd).st_mode & 07777, 0644u);
  const auto inode = Stat(passwd).st_ino;
  ASSERT_TRUE(PrepareDirectories(paths, identity));
  EXPECT_EQ(Stat(passwd).st_ino, inode) << "written again for nothing";
}

TEST(PrepareTest, AWorkspaceThatIsALinkIsRefused) {
  TempDir home;
  HomePaths paths(home.path());
  const Identity identity = Someone();
  ASSERT_TRUE(MakeDirs(home / "elsewhere", 0700));
  ASSERT_TRUE(MakeDirs(home / "agents/default/one", 0700));
  ASSERT_EQ(::symlink((home / "elsewhere").c_str(), paths.Workspace(identity.agent.key()).c_str()), 0);
  EXPECT_FALSE(PrepareDirectories(paths, identity));
}

TEST(PrepareTest, ALinkOnTheWayToAWorkspaceIsRefusedAndNothingIsMadeOrGivenAwayBehindIt) {
  for (const char* link : {"agents/default/one", "agents/default"}) {
    SCOPED_TRACE(link);
    TempDir home;
    HomePaths paths(home.path());
    const Identity identity = Someone();
    ASSERT_TRUE(MakeDirs(home / "elsewhere/one/workspace", 0700));
    ASSERT_TRUE(MakeDirs(home / "elsewhere/workspace", 0700));
    ASSERT_TRUE(MakeDirs(std::filesystem::path(home / link).parent_path(), 0700));
    ASSERT_EQ(::symlink((home / "elsewhere").c_str(), (home / link).c_str()), 0);
    const auto prepared = PrepareDirectories(paths, identity);
    ASSERT_FALSE(prepared);
    EXPECT_NE(prepared.error().message.find(home / link), std::string::npos) << prepared.error().message;
    EXPECT_EQ(Stat(home / "elsewhere/workspace").st_uid, ::geteuid());
    EXPECT_EQ(Stat(home / "elsewhere/one/workspace").st_uid, ::geteuid());
    ASSERT_TRUE(RemoveTree(home / "elsewhere"));
    ASSERT_TRUE(MakeDirs(home / "elsewhere", 0700));
    EXPECT_FALSE(PrepareDirectories(paths, identity));
    EXPECT_EQ(*ListDir(home / "elsewhere"), std::vector<std::string>{});
  }
}

TEST(PrepareTest, TheDirectoryOfAllWorkspacesMayBeALinkToAnotherDisk) {
  TempDir home;
  HomePaths paths(home.path());
  const Identity identity = Someone();
  ASSERT_TRUE(MakeDirs(home / "disk", 0700));
  ASSERT_EQ(::symlink((home / "disk").c_str(), paths.Workspaces().c_str()), 0);
  ASSERT_TRUE(PrepareDirectories(paths, identity));
  EXPECT_EQ(Stat(home / "disk/default/one/workspace").st_uid, identity.sandbox_uid);
  EXPECT_EQ(Stat(home / "disk/default/one").st_mode & 07777, 0700u);
}

TEST(SpecBuilderTest, TheSpecHasEveryMountAndNoVariableOfTheHost) {
  HomePaths paths("/h");
  Identity identity = Someone();
  identity.agent.spec.sandbox.env = {{"TZ", "UTC"}, {"PATH", "/evil"}};
  identity.agent.spec.sandbox.memory_bytes = 64 << 20;
  identity.agent.spec.sandbox.volumes = {{"papers", "/data", "/srv/papers", true}};
  OperatorConfig config;
  const auto spec = BuildSandboxSpec(identity, config, paths, {"abcdef", "/h/bin/1.0", "i1", "sha256:1", {{"papers", "/real/papers"}}});
  EXPECT_EQ(spec.name, "beige-abcd-11112222-one");
  EXPECT_EQ(spec.uid, identity.sandbox_uid);
  EXPECT_EQ(spec.memory_bytes, 64 << 20);
  EXPECT_EQ(spec.tmp_bytes, 32 << 20) << "/tmp must not be able to use up the memory limit";
  EXPECT_EQ(spec.cpu_millis, config.default_cpu_millis);
  EXPECT_EQ(spec.network, runtime::Network::kNone);
  EXPECT_EQ(spec.command, (std::vector<std::string>{"/beige/bin/beige-sandbox", "init"}));
  std::map<std::string, bool> read_only;
  for (const auto& mount : spec.mounts) read_only[mount.target] = mount.read_only;
  EXPECT_EQ(read_only, (std::map<std::string, bool>{{"/workspace", false}, {"/beige", true}, {"/beige/bin", true}, {"/tools/bin", true},
                                                    {"/tools/packages", true}, {"/skills", true}, {"/etc/passwd", true},
                                                    {"/etc/group", true}, {"/data", true}}));
  EXPECT_EQ(spec.env, (std::map<std::string, std::string>{
                          {"PATH", "/tools/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, {"HOME", "/workspace"},
                          {"LANG", "C.UTF-8"}, {"TZ", "UTC"}, {"BEIGE_AGENT_NAME", "one"}, {"BEIGE_INSTANCE", "i1"}}));
}

TEST(SpecBuilderTest, RunAsUserIsTheUidAndTheGrantSaysSo) {
  Identity identity = Someone();
  identity.agent.spec.sandbox.run_as_user = 4321;
  const auto spec = BuildSandboxSpec(identity, {}, HomePaths("/h"), {"abcdef", "/b", "i", "img", {}});
  EXPECT_EQ(spec.uid, 4321u);
  EXPECT_EQ(GrantOf(identity).sandbox_uid, 4321u);
}

TEST(SandboxRecordTest, IsReadBackForItsInstanceOnly) {
  TempDir home;
  HomePaths paths(home.path());
  const Identity identity = Someone();
  const auto spec = BuildSandboxSpec(identity, {}, paths, {"abcdef", "/b", "i1", "img", {}});
  ASSERT_TRUE(WriteSandboxRecord(paths, spec));
  EXPECT_EQ(ReadSandboxRecord(paths, identity.uid(), "i1"), spec);
  EXPECT_EQ(ReadSandboxRecord(paths, identity.uid(), "i2"), std::nullopt);
  ASSERT_TRUE(RemoveSandboxRecord(paths, identity.uid()));
  EXPECT_EQ(ReadSandboxRecord(paths, identity.uid(), "i1"), std::nullopt);
}

}  // namespace
}  // namespace beige
