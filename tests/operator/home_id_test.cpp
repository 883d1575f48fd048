#include "operator/store/home_id.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "operator/store/trash.h"
#include "tests/operator/temp_dir.h"

namespace beige {
namespace {
using testing::TempDir;

TEST(HomeIdTest, IsMadeOnceAndStays) {
  TempDir home;
  HomePaths paths(home.path());
  const MachineFacts here{"machine", 7};
  const auto first = LoadHomeId(paths, here, false);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->id.size(), 36u);
  EXPECT_FALSE(first->copied);
  EXPECT_EQ(LoadHomeId(paths, here, false)->id, first->id);
}

TEST(HomeIdTest, ACopyIsNoticedByMachineOrByInodeAndMayBeAdopted) {
  TempDir home;
  HomePaths paths(home.path());
  const auto first = LoadHomeId(paths, {"machine", 7}, false);
  for (const MachineFacts& elsewhere : {MachineFacts{"other", 7}, MachineFacts{"machine", 8}, MachineFacts{"", 7}}) {
    const auto copy = LoadHomeId(paths, elsewhere, false);
    ASSERT_TRUE(copy);
    EXPECT_TRUE(copy->copied);
    EXPECT_NE(copy->why.find("beige adopt"), std::string::npos);
  }
  EXPECT_FALSE(LoadHomeId(paths, {"other", 8}, true)->copied);
  const auto adopted = LoadHomeId(paths, {"other", 8}, false);
  EXPECT_FALSE(adopted->copied);
  EXPECT_EQ(adopted->id, first->id);
}

TEST(HomeIdTest, AnUnreadableFileIsAnErrorAndNotANewId) {
  TempDir home;
  HomePaths paths(home.path());
  ASSERT_TRUE(MakeDirs(paths.DataOperator(), 0700));
  ASSERT_TRUE(WriteFileAtomic(paths.DataOperator() + "/home.json", "{\"id\":1}", 0600));
  EXPECT_FALSE(LoadHomeId(paths, {"m", 1}, false));
}

TEST(TrashTest, AWorkspaceIsMovedThereAndPurgedAfterSevenDays) {
  TempDir home;
  HomePaths paths(home.path());
  const AgentKey key{"default", "one"};
  ManualClock clock;
  ASSERT_TRUE(TrashWorkspace(paths, key, clock.WallNow())) << "an absent one is no error";
  ASSERT_TRUE(MakeDirs(paths.Workspace(key), 0700));
  ASSERT_TRUE(WriteFileAtomic(paths.Workspace(key) + "/f", "x", 0600));
  ASSERT_TRUE(TrashWorkspace(paths, key, clock.WallNow()));
  EXPECT_FALSE(Exists(paths.Workspace(key)));
  const std::string there = paths.Trash() + "/" + FormatTime(clock.WallNow()) + "-default-one";
  EXPECT_TRUE(Exists(there + "/f"));
  clock.Advance(kTrashAge);
  ASSERT_TRUE(PurgeTrash(paths.Trash(), clock.WallNow()));
  EXPECT_TRUE(Exists(there));
  clock.Advance(std::chrono::seconds(1));
  ASSERT_TRUE(PurgeTrash(paths.Trash(), clock.WallNow()));
  EXPECT_FALSE(Exists(there));
}

TEST(TrashTest, NothingIsMovedThroughALink) {
  for (const char* link : {"agents/default/one", "agents/default"}) {
    SCOPED_TRACE(link);
    TempDir home;
    HomePaths paths(home.path());
    ASSERT_TRUE(MakeDirs(home / "elsewhere/one/workspace", 0700));
    ASSERT_TRUE(MakeDirs(home / "elsewhere/workspace", 0700));
    ASSERT_TRUE(MakeDirs(std::filesystem::path(home / link).parent_path(), 0700));
    ASSERT_EQ(::symlink((home / "elsewhere").c_str(), (home / link).c_str()), 0);
    EXPECT_FALSE(TrashWorkspace(paths, {"default", "one"}, ManualClock().WallNow()));
    EXPECT_TRUE(Exists(home / "elsewhere/workspace"));
    EXPECT_TRUE(Exists(home / "elsewhere/one/workspace"));
    EXPECT_TRUE(Exists(home / link));
  }
}

}  // namespace
}  // namespace beige
