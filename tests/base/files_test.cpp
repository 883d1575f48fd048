#include "base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "tests/support/temp_dir.h"

namespace beige {
namespace {

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

TEST(WriteFileAtomicTest, ReplacesTheContentAndSetsTheModeWhateverTheUmask) {
  TempDir dir;
  const mode_t old = ::umask(077);
  const std::string file = dir / "a";
  ASSERT_TRUE(WriteFileAtomic(file, "one", 0644));
  EXPECT_EQ(ModeOf(file), 0644u);
  ASSERT_TRUE(WriteFileAtomic(file, std::string("t\0o", 3), 0600));
  ::umask(old);
  EXPECT_EQ(ModeOf(file), 0600u);
  EXPECT_EQ(ReadFile(file).value(), std::string("t\0o", 3));
  EXPECT_EQ(ListDir(dir.path()).value(), std::vector<std::string>{"a"});
}

TEST(WriteFileAtomicTest, ReplacesALinkInsteadOfWritingThroughIt) {
  TempDir dir;
  const std::string target = dir.Write("target", "old");
  ASSERT_EQ(::symlink(target.c_str(), (dir / "link").c_str()), 0);
  ASSERT_TRUE(WriteFileAtomic(dir / "link", "new", 0600));
  EXPECT_EQ(ReadFile(target).value(), "old");
  EXPECT_EQ(ReadFile(dir / "link").value(), "new");
}

TEST(WriteFileAtomicTest, LeavesNoTemporaryFileWhenItFails) {
  TempDir dir;
  ASSERT_TRUE(MakeDirs(dir / "taken", 0755));
  EXPECT_FALSE(WriteFileAtomic(dir / "taken", "x", 0600));
  EXPECT_EQ(ListDir(dir.path()).value(), std::vector<std::string>{"taken"});
  const auto nowhere = WriteFileAtomic(dir / "none/x", "x", 0600);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, Code::kNotFound);
}

TEST(ReadFileTest, SaysWhatIsWrongWithAFileThatIsAbsentOrTooLarge) {
  TempDir dir;
  EXPECT_EQ(ReadFile(dir / "none").error().code, Code::kNotFound);
  EXPECT_EQ(ReadFileIfExists(dir / "none").value(), std::nullopt);
  const std::string file = dir.Write("big", std::string(101, 'x'));
  const auto large = ReadFile(file, 100);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, Code::kInvalid);
  EXPECT_NE(large.error().message.find("100 bytes"), std::string::npos);
  EXPECT_EQ(ReadFile(file, 101).value().size(), 101u);
}

TEST(MakeDirsTest, GivesTheModeToEveryDirectoryThatItMakesAndToNoOther) {
  TempDir dir;
  const mode_t old = ::umask(077);
  ASSERT_TRUE(MakeDirs(dir / "a/b/c", 0755));
  ::umask(old);
  EXPECT_EQ(ModeOf(dir / "a"), 0755u);
  EXPECT_EQ(ModeOf(dir / "a/b/c"), 0755u);
  EXPECT_EQ(ModeOf(dir.path()), 0700u);
  EXPECT_TRUE(MakeDirs(dir / "a/b/c", 0700));
  EXPECT_EQ(ModeOf(dir / "a/b/c"), 0755u);
}

TEST(ReadRegularTest, NeverWaitsForAFifo) {
  TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  EXPECT_FALSE(ReadRegular(dir / "fifo", 100));
  dir.Write("file", "text");
  EXPECT_EQ(ReadRegular(dir / "file", 100).value_or(""), "text");
  EXPECT_FALSE(ReadRegular(dir / "file", 3)) << "over the limit";
}

TEST(RemoveTreeTest, NeverFollowsLinks) {
  TempDir kept;
  TempDir dir;
  kept.Write("precious", "x");
  ASSERT_TRUE(MakeDirs(dir / "a", 0755));
  ASSERT_EQ(::symlink(kept.path().c_str(), (dir / "a/link").c_str()), 0);
  ASSERT_TRUE(RemoveTree(dir / "a"));
  EXPECT_FALSE(Exists(dir / "a"));
  EXPECT_TRUE(Exists(kept / "precious"));
  EXPECT_TRUE(RemoveTree(dir / "a"));
  EXPECT_TRUE(RemoveFile(dir / "a"));
}

TEST(RemoveTreeTest, RemovesDirectoriesThatTheirOwnerMayNotEnter) {
  TempDir dir;
  ASSERT_TRUE(MakeDirs(dir / "a/b/c", 0755));
  ASSERT_EQ(::chmod((dir / "a/b").c_str(), 0), 0);
  ASSERT_EQ(::chmod((dir / "a").c_str(), 0500), 0);
  EXPECT_TRUE(RemoveTree(dir / "a"));
  EXPECT_FALSE(Exists(dir / "a"));
}

TEST(RemoveTreeTest, RemovesATreeThatIsDeeperThanAPathMayBeLong) {
  TempDir dir;
  ASSERT_TRUE(MakeDirs(dir / "a", 0755));
  UniqueFd at(::open((dir / "a").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string name(50, 'd');
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0) << i;
    at = UniqueFd(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  const Result<> removed = RemoveTree(dir / "a");
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(Exists(dir / "a"));
}

TEST(ExistsTest, SeesALinkThatLeadsNowhere) {
  TempDir dir;
  ASSERT_EQ(::symlink("/nowhere", (dir / "link").c_str()), 0);
  EXPECT_TRUE(Exists(dir / "link"));
}

TEST(AbsolutePathTest, IsLexicallyNormal) {
  EXPECT_EQ(AbsolutePath("/a/b", "c"), "/a/b/c");
  EXPECT_EQ(AbsolutePath("/a/b", "./c/../d/"), "/a/b/d");
  EXPECT_EQ(AbsolutePath("/a/b", "/x//y/."), "/x/y");
  EXPECT_EQ(AbsolutePath("/a", "../../.."), "/");
  EXPECT_EQ(JoinPath("/a/", "b"), "/a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
}

}  // namespace
}  // namespace beige
