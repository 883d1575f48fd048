#include "gateway/publish/publish.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/publish/skill_copy.h"
#include "tests/gateway/outer/temp_home.h"

namespace beige {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
const std::string kUid = "0f3a4c1e-0000-4000-8000-000000000001";

std::shared_ptr<const ToolManifest> Tool(const std::string& name, const std::string& description = "Keeps small values") {
  ToolManifest tool;
  tool.name = name;
  tool.description = description;
  tool.usage = {name + " set KEY VALUE", name + " get KEY"};
  tool.command = {"/opt/secret-place/" + name};
  tool.env = {{"MODE", "env-value"}};
  tool.secrets = {{"TOKEN", Secret("hunter2")}};
  return std::make_shared<const ToolManifest>(std::move(tool));
}

std::vector<std::string> Names(const std::string& path) { return ListDir(path).value_or(std::vector<std::string>{"(no such directory)"}); }
ino_t InodeOf(const std::string& path) {
  struct stat st {};
  return ::lstat(path.c_str(), &st) == 0 ? st.st_ino : 0;
}
mode_t ModeOf(const std::string& path) {
  struct stat st {};
  return ::lstat(path.c_str(), &st) == 0 ? st.st_mode & 07777 : 0;
}
}  // namespace

class PublishTest : public ::testing::Test {
 protected:
  void Publish(const PublishedTree& tree) {
    const auto done = PublishTree(paths_, kUid, tree);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_THAT(*done, IsEmpty());
  }
  gateway_test::TempHome home_;
  HomePaths paths_ = home_.paths();
  std::string bin_ = paths_.LaunchersDir(kUid);
  std::string packages_ = paths_.PackagesDir(kUid);
  std::string skills_ = paths_.SkillsDir(kUid);
};

TEST_F(PublishTest, AnEmptyTreeIsThreeEmptyWorldReadableDirectories) {
  Publish({});
  for (const std::string& dir : {bin_, packages_, skills_}) {
    EXPECT_THAT(Names(dir), IsEmpty());
    EXPECT_EQ(ModeOf(dir), 0755u);
  }
}

TEST_F(PublishTest, AToolHasALauncherAndDocsWithoutSecrets) {
  ::umask(077);
  Publish({{Tool("kv")}, {}});
  ::umask(022);
  char target[100] = "";
  ASSERT_GT(::readlink((bin_ + "/kv").c_str(), target, sizeof target - 1), 0);
  EXPECT_STREQ(target, "/beige/bin/beige-sandbox");
  const std::string readme = *ReadFile(packages_ + "/kv/README.md");
  EXPECT_THAT(readme, HasSubstr("# kv\n\nKeeps small values\n"));
  EXPECT_THAT(readme, HasSubstr("    kv get KEY\n"));
  for (const char* hidden : {"hunter2", "TOKEN", "secret-place", "env-value"}) EXPECT_THAT(readme, Not(HasSubstr(hidden)));
  EXPECT_EQ(ModeOf(packages_ + "/kv"), 0755u);
  EXPECT_EQ(ModeOf(packages_ + "/kv/README.md"), 0644u);
}

TEST_F(PublishTest, DirectoriesAreNeverReplacedAndUnchangedEntriesNotTouched) {
  const std::string skill = home_.path() + "/typst";
  home_.Write("typst/SKILL.md", "how to");
  Publish({{Tool("kv")}, {{"typst", skill}}});
  std::vector<ino_t> before;
  const std::vector<std::string> all = {bin_, packages_, skills_, bin_ + "/kv", packages_ + "/kv", packages_ + "/kv/README.md", skills_ + "/typst"};
  for (const std::string& path : all) before.push_back(InodeOf(path));
  Publish({{Tool("kv"), Tool("papers")}, {{"typst", skill}}});
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(InodeOf(all[i]), before[i]) << all[i];
  EXPECT_THAT(Names(bin_), ElementsAre("kv", "papers"));
}

TEST_F(PublishTest, WhatIsRevokedGoesAndWhatChangedIsReplaced) {
  home_.Write("s1/SKILL.md", "one");
  Publish({{Tool("kv"), Tool("papers")}, {{"s1", home_.path() + "/s1"}}});
  Publish({{Tool("kv", "Now different")}, {}});
  EXPECT_THAT(Names(bin_), ElementsAre("kv"));
  EXPECT_THAT(Names(packages_), ElementsAre("kv"));
  EXPECT_THAT(Names(skills_), IsEmpty());
  EXPECT_THAT(*ReadFile(packages_ + "/kv/README.md"), HasSubstr("Now different"));
}

TEST_F(PublishTest, AnEditedSkillIsCopiedAgain) {
  home_.Write("s1/SKILL.md", "one");
  Publish({{}, {{"s1", home_.path() + "/s1"}}});
  home_.Write("s1/SKILL.md", "two");
  home_.Write("s1/deep/er/run.sh", "#!/bin/sh\n", 0700);
  Publish({{}, {{"s1", home_.path() + "/s1"}}});
  EXPECT_EQ(*ReadFile(skills_ + "/s1/SKILL.md"), "two");
  EXPECT_EQ(ModeOf(skills_ + "/s1/deep/er/run.sh"), 0755u);
  EXPECT_EQ(ModeOf(skills_ + "/s1/SKILL.md"), 0644u);
}

TEST_F(PublishTest, LinksAndSpecialFilesOfASkillAreLeftOut) {
  home_.Write("host-secret", "hunter2");
  home_.Write("s1/SKILL.md", "one");
  const std::string s1 = home_.path() + "/s1";
  ASSERT_EQ(::symlink((home_.path() + "/host-secret").c_str(), (s1 + "/link").c_str()), 0);
  ASSERT_EQ(::symlink("/", (s1 + "/root").c_str()), 0);
  ASSERT_EQ(::mkfifo((s1 + "/fifo").c_str(), 0644), 0);
  Publish({{}, {{"s1", s1}}});
  EXPECT_THAT(Names(skills_ + "/s1"), ElementsAre("SKILL.md"));
}

TEST_F(PublishTest, ASkillOverTheLimitIsSaidAndTheRestIsPublished) {
  home_.Write("big/SKILL.md", "one");
  const std::string big = home_.path() + "/big/huge";
  home_.Write("big/huge", "");
  ASSERT_EQ(::truncate(big.c_str(), static_cast<off_t>(kMaxSkillBytes) + 1), 0);
  const auto done = PublishTree(paths_, kUid, {{Tool("kv")}, {{"big", home_.path() + "/big"}}});
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_TRUE(done->contains("big"));
  EXPECT_THAT(done->at("big"), HasSubstr("64 MiB"));
  EXPECT_THAT(Names(bin_), ElementsAre("kv"));
  EXPECT_THAT(Names(skills_), IsEmpty());
}

TEST_F(PublishTest, NamesThatLeaveTheDirectoryAreRefused) {
  EXPECT_FALSE(PublishTree(paths_, kUid, {{Tool("../kv")}, {}}));
  const auto skills = PublishTree(paths_, kUid, {{}, {{"..", home_.path()}}});
  ASSERT_TRUE(skills);
  EXPECT_TRUE(skills->contains(".."));
  EXPECT_THAT(Names(bin_), IsEmpty());
}

TEST_F(PublishTest, AStrangeEntryInThePlaceOfALauncherIsReplaced) {
  Publish({});
  home_.Write("data/gateway/trees/" + HomePaths::Id(kUid) + "/bin/kv/file", "x");
  Publish({{Tool("kv")}, {}});
  struct stat st {};
  ASSERT_EQ(::lstat((bin_ + "/kv").c_str(), &st), 0);
  EXPECT_TRUE(S_ISLNK(st.st_mode));
}

TEST_F(PublishTest, RemovingATreeLeavesNothing) {
  Publish({{Tool("kv")}, {}});
  ASSERT_TRUE(RemoveTreeOf(paths_, kUid));
  EXPECT_FALSE(Exists(paths_.Tree(kUid)));
  EXPECT_TRUE(RemoveTreeOf(paths_, kUid));
}

}  // namespace beige
