#include "operator/source/file_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "tests/operator/temp_dir.h"

namespace beige {
namespace {
using testing::AgentYaml;
using testing::TempDir;
namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The source on real files, real inotify and real time; each test waits on snapshots with a deadline. The poll is an hour away unless the
// test is about it, so what arrives comes from inotify.
class FileSourceTest : public ::testing::Test {
 protected:
  void Start(const std::string& directory, FileSource::Options options = {.debounce = milliseconds(5), .poll = std::chrono::hours(1)}) {
    source = std::make_unique<FileSource>(loop, clock, directory, options, [this](const Snapshot& s) { snapshots.push_back(s); });
    source->Start();
  }
  template <typename Predicate>
  bool Until(Predicate predicate) {
    const auto deadline = std::chrono::steady_clock::now() + seconds(10);
    while (std::chrono::steady_clock::now() < deadline) {
      if (!snapshots.empty() && predicate(snapshots.back())) return true;
      loop.RunOnce(milliseconds(100));
    }
    return false;
  }
  static auto Says(const std::string& description) {
    return [description](const Snapshot& s) {
      const auto it = s.agents.find({"default", "one"});
      return it != s.agents.end() && it->second.agent && it->second.agent->spec.description == description;
    };
  }
  static std::string One(const std::string& description) { return AgentYaml("one", "  description: " + description + "\n"); }

  TempDir root;
  RealClock clock;
  Loop loop;
  std::unique_ptr<FileSource> source;
  std::vector<Snapshot> snapshots;
};

TEST_F(FileSourceTest, TheFirstLookIsACompleteSnapshotEvenIfEmpty) {
  fs::create_directory(root / "agents.d");
  Start(root / "agents.d");
  ASSERT_EQ(snapshots.size(), 1u);
  EXPECT_TRUE(snapshots[0].agents.empty());
}

TEST_F(FileSourceTest, ADirectoryThatIsMissingDeliversNothingUntilItIsThere) {
  Start(root / "agents.d");
  EXPECT_TRUE(snapshots.empty());
  fs::create_directory(root / "agents.d");
  root.Write("agents.d/a.yaml", One("here"));
  EXPECT_TRUE(Until(Says("here")));
}

TEST_F(FileSourceTest, TruncateAndWriteIsSeenAsOneChange) {
  fs::create_directory(root / "agents.d");
  root.Write("agents.d/a.yaml", One("first"));
  Start(root / "agents.d");
  root.Write("agents.d/a.yaml", One("second"));
  EXPECT_TRUE(Until(Says("second")));
  for (const Snapshot& s : snapshots) EXPECT_EQ(s.agents.size(), 1u) << "the agent was never gone";
}

TEST_F(FileSourceTest, AtomicRenameIsSeen) {
  fs::create_directory(root / "agents.d");
  root.Write("agents.d/a.yaml", One("first"));
  Start(root / "agents.d");
  root.Write("agents.d/.a.yaml.tmp", One("second"));
  fs::rename(root / "agents.d/.a.yaml.tmp", root / "agents.d/a.yaml");
  EXPECT_TRUE(Until(Says("second")));
}

TEST_F(FileSourceTest, AnEditorThatMovesTheOldFileAwayAndWritesANewOneNeverRemovesTheAgent) {
  fs::create_directory(root / "agents.d");
  root.Write("agents.d/a.yaml", One("first"));
  Start(root / "agents.d");
  root.Write("agents.d/.a.yaml.swp", "swap");
  fs::rename(root / "agents.d/a.yaml", root / "agents.d/a.yaml~");
  for (int i = 0; i < 5; ++i) loop.RunOnce(milliseconds(10));
  root.Write("agents.d/a.yaml", One("second"));
  EXPECT_TRUE(Until(Says("second")));
  for (const Snapshot& s : snapshots) EXPECT_EQ(s.agents.size(), 1u);
}

TEST_F(FileSourceTest, AFileWrittenInTwoPiecesIsReadWhenItIsClosed) {
  fs::create_directory(root / "agents.d");
  root.Write("agents.d/a.yaml", One("first"));
  Start(root / "agents.d");
  std::ofstream slow(root / "agents.d/a.yaml", std::ios::trunc);
  slow << "apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: one}\nspec:\n" << std::flush;
  for (int i = 0; i < 10; ++i) loop.RunOnce(milliseconds(10));
  EXPECT_EQ(snapshots.size(), 1u) << "half a file was believed";
  slow << "  description: whole\n";
  slow.close();
  EXPECT_TRUE(Until(Says("whole")));
}

TEST_F(FileSourceTest, ALinkedDirectoryThatIsSwappedIsFollowed) {
  fs::create_directory(root / "v1");
  fs::create_directory(root / "v2");
  root.Write("v1/a.yaml", One("first"));
  root.Write("v2/a.yaml", One("second"));
  fs::create_directory_symlink("v1", root / "agents.d");
  Start(root / "agents.d");
  EXPECT_TRUE(Until(Says("first")));
  fs::create_directory_symlink("v2", root / "next");
  fs::rename(root / "next", root / "agents.d");
  EXPECT_TRUE(Until(Says("second")));
  root.Write("v2/a.yaml", One("third"));
  EXPECT_TRUE(Until(Says("third")));
}

TEST_F(FileSourceTest, AConfigMapSwapIsSeen) {
  fs::create_directories(root / "agents.d/..v1");
  fs::create_directories(root / "agents.d/..v2");
  root.Write("agents.d/..v1/a.yaml", One("first"));
  root.Write("agents.d/..v2/a.yaml", One("second"));
  fs::create_directory_symlink("..v1", root / "agents.d/..data");
  fs::create_symlink("..data/a.yaml", root / "agents.d/a.yaml");
  Start(root / "agents.d");
  EXPECT_TRUE(Until(Says("first")));
  fs::create_directory_symlink("..v2", root / "agents.d/..tmp");
  fs::rename(root / "agents.d/..tmp", root / "agents.d/..data");
  EXPECT_TRUE(Until(Says("second")));
}

TEST_F(FileSourceTest, ALinkedFileThatIsEditedElsewhereIsSeen) {
  fs::create_directory(root / "agents.d");
  fs::create_directory(root / "repo");
  root.Write("repo/one.yaml", One("first"));
  fs::create_symlink(root / "repo/one.yaml", root / "agents.d/a.yaml");
  Start(root / "agents.d");
  root.Write("repo/one.yaml", One("second"));
  EXPECT_TRUE(Until(Says("second")));
}

TEST_F(FileSourceTest, WithoutInotifyThePollSeesChanges) {
  fs::create_directory(root / "agents.d");
  root.Write("agents.d/a.yaml", One("first"));
  Start(root / "agents.d", {.debounce = milliseconds(5), .poll = milliseconds(20), .use_inotify = false});
  EXPECT_TRUE(source->polling_only());
  root.Write("agents.d/a.yaml", One("second"));
  EXPECT_TRUE(Until(Says("second")));
}

TEST_F(FileSourceTest, ARemovedFileRemovesItsAgent) {
  fs::create_directory(root / "agents.d");
  root.Write("agents.d/a.yaml", One("first"));
  Start(root / "agents.d");
  fs::remove(root / "agents.d/a.yaml");
  EXPECT_TRUE(Until([](const Snapshot& s) { return s.agents.empty(); }));
}

TEST_F(FileSourceTest, NothingIsDeliveredAgainWhenNothingDiffers) {
  fs::create_directory(root / "agents.d");
  root.Write("agents.d/a.yaml", One("first"));
  Start(root / "agents.d");
  source->Scan();
  fs::rename(root / "agents.d/a.yaml", root / "agents.d/.away");
  fs::rename(root / "agents.d/.away", root / "agents.d/a.yaml");
  source->Scan();
  EXPECT_EQ(snapshots.size(), 1u);
}

TEST(FileSourceHoldTest, AHeldRemovalKeepsTheLastGoodVersionOfAFileThatComesBackInvalid) {
  TempDir root;
  Loop loop;
  ManualClock clock;
  std::vector<Snapshot> snapshots;
  fs::create_directory(root / "agents.d");
  for (const char* name : {"a", "b", "c", "d", "one"}) root.Write(std::string("agents.d/") + name + ".yaml", AgentYaml(name));
  FileSource source(loop, clock, root / "agents.d", {.poll = std::chrono::hours(1), .use_inotify = false},
                    [&](const Snapshot& s) { snapshots.push_back(s); });
  source.Scan();
  root.Write("agents.d/one.yaml", AgentYaml("one", "  descriptoin: misspelt\n"));
  source.Scan();
  fs::rename(root / "agents.d", root / "away");
  source.Scan();
  fs::create_directory(root / "agents.d");
  source.Scan();
  clock.Advance(FileTable::kMissing);
  source.Scan();
  EXPECT_NE(snapshots.back().notice, "");
  EXPECT_EQ(snapshots.back().agents.size(), 5u);
  fs::remove(root / "agents.d");
  fs::rename(root / "away", root / "agents.d");
  source.Scan();
  EXPECT_EQ(snapshots.back().notice, "");
  const SourceAgent& one = snapshots.back().agents.at({"default", "one"});
  EXPECT_TRUE(one.agent);
  EXPECT_FALSE(one.problems.empty());
}

}  // namespace
}  // namespace beige
