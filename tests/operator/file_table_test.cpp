#include "operator/source/file_table.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/operator/temp_dir.h"

namespace beige {
namespace {
using testing::AgentYaml;
using testing::TempDir;
namespace fs = std::filesystem;

class FileTableTest : public ::testing::Test {
 protected:
  // Names of agents that the file has now, lingering ones with a star.
  std::string Names(const std::string& file) {
    std::vector<std::string> names;
    const auto it = table.views().find(dir / file);
    if (it == table.views().end()) return "-";
    for (const LoadedAgent& loaded : it->second.agents) names.push_back(loaded.key ? loaded.key->name : "?");
    for (const AgentKey& key : it->second.lingering) names.push_back(key.name + "*");
    std::sort(names.begin(), names.end());
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : " ") + name;
    return all;
  }
  std::optional<SteadyTime> Scan(const std::set<std::string>& writing = {}) {
    auto wake = table.Scan(writing);
    EXPECT_TRUE(wake) << wake.error().message;
    return wake ? *wake : std::nullopt;
  }

  TempDir dir;
  ManualClock clock;
  FileTable table{dir.path(), clock};
};

TEST_F(FileTableTest, OnlyManifestsAreReadAndNoEditorsLeftovers) {
  for (const char* name : {"a.yaml", "b.yml", "c.json"}) EXPECT_TRUE(IsAgentFileName(name)) << name;
  for (const char* name : {".a.yaml", ".a.yaml.swp", "a.yaml~", "#a.yaml#", ".#a.yaml", "4913", "a.yaml.bak", "a.yaml.example", "..data", ".yaml", ""}) {
    EXPECT_FALSE(IsAgentFileName(name)) << name;
  }
}

TEST_F(FileTableTest, ManyDocumentsOfOneFileAreAllThere) {
  dir.Write("a.yaml", AgentYaml("one") + "---\n" + AgentYaml("two"));
  EXPECT_EQ(Scan(), std::nullopt);
  EXPECT_EQ(Names("a.yaml"), "one two");
}

TEST_F(FileTableTest, AnEmptiedFileKeepsItsAgentsUntilItWasUnchangedForTwoSeconds) {
  dir.Write("a.yaml", AgentYaml("one"));
  Scan();
  dir.Write("a.yaml", "");
  const auto wake = Scan();
  EXPECT_EQ(wake, clock.Now() + FileTable::kSettle);
  EXPECT_EQ(Names("a.yaml"), "one*");
  clock.Advance(FileTable::kSettle - std::chrono::milliseconds(1));
  Scan();
  EXPECT_EQ(Names("a.yaml"), "one*");
  clock.Advance(std::chrono::milliseconds(1));
  EXPECT_EQ(Scan(), std::nullopt);
  EXPECT_EQ(Names("a.yaml"), "");
}

TEST_F(FileTableTest, AnEntryThatLeavesAFileLingersWhileTheOthersChangeAtOnce) {
  dir.Write("a.yaml", AgentYaml("one") + "---\n" + AgentYaml("two"));
  Scan();
  dir.Write("a.yaml", AgentYaml("one", "  description: changed\n"));
  Scan();
  EXPECT_EQ(Names("a.yaml"), "one two*");
  EXPECT_EQ(table.views().at(dir / "a.yaml").agents[0].agent->spec.description, "changed");
  clock.Advance(FileTable::kSettle);
  Scan();
  EXPECT_EQ(Names("a.yaml"), "one");
}

TEST_F(FileTableTest, AFileThatSomebodyIsWritingIsLeftAsItWasUntilQuiet) {
  dir.Write("a.yaml", AgentYaml("one"));
  Scan();
  dir.Write("a.yaml", AgentYaml("one", "  description: half\n"));
  EXPECT_EQ(Scan({"a.yaml"}), clock.Now() + FileTable::kSettle);
  EXPECT_EQ(table.views().at(dir / "a.yaml").agents[0].agent->spec.description, "test");
  Scan({});  // closed
  EXPECT_EQ(table.views().at(dir / "a.yaml").agents[0].agent->spec.description, "half");
}

TEST_F(FileTableTest, AWriterThatNeverClosesIsBelievedAfterTwoQuietSeconds) {
  dir.Write("a.yaml", AgentYaml("one"));
  Scan({"a.yaml"});
  EXPECT_EQ(Names("a.yaml"), "");
  clock.Advance(FileTable::kSettle);
  Scan({"a.yaml"});
  EXPECT_EQ(Names("a.yaml"), "one");
}

TEST_F(FileTableTest, AFileBrokenAsAWholeKeepsItsAgentsForAsLongAsItIs) {
  dir.Write("a.yaml", AgentYaml("one"));
  Scan();
  dir.Write("a.yaml", "apiVersion: [unclosed\n");
  Scan();
  clock.Advance(std::chrono::hours(1));
  Scan();
  EXPECT_EQ(Names("a.yaml"), "one");
  EXPECT_FALSE(table.views().at(dir / "a.yaml").problems.empty());
  dir.Write("a.yaml", AgentYaml("one", "  description: mended\n"));
  Scan();
  EXPECT_TRUE(table.views().at(dir / "a.yaml").problems.empty());
}

TEST_F(FileTableTest, AnEntryWithoutAReadableNameKeepsTheOneThatIsMissing) {
  dir.Write("a.yaml", AgentYaml("one") + "---\n" + AgentYaml("two"));
  Scan();
  dir.Write("a.yaml", AgentYaml("one") + "---\napiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {nam: two}\nspec: {}\n");
  Scan();
  clock.Advance(std::chrono::hours(1));
  Scan();
  EXPECT_EQ(Names("a.yaml"), "? one two*");
}

TEST_F(FileTableTest, ARemovedFileGoesAfterAMomentAndARenameInBetweenKeepsIt) {
  dir.Write("a.yaml", AgentYaml("one"));
  Scan();
  fs::remove(dir / "a.yaml");
  EXPECT_EQ(Scan(), clock.Now() + FileTable::kMissing);
  EXPECT_EQ(Names("a.yaml"), "one*");
  dir.Write("a.yaml", AgentYaml("one"));
  Scan();
  clock.Advance(FileTable::kMissing);
  Scan();
  EXPECT_EQ(Names("a.yaml"), "one");
  fs::remove(dir / "a.yaml");
  Scan();
  clock.Advance(FileTable::kMissing);
  Scan();
  EXPECT_EQ(Names("a.yaml"), "-");
}

TEST_F(FileTableTest, AConfigMapIsFollowedThroughItsDataSwap) {
  fs::create_directory(dir / "..v1");
  fs::create_directory(dir / "..v2");
  dir.Write("..v1/a.yaml", AgentYaml("one", "  description: first\n"));
  dir.Write("..v2/a.yaml", AgentYaml("one", "  description: second\n"));
  fs::create_symlink("..v1", dir / "..data");
  fs::create_symlink("..data/a.yaml", dir / "a.yaml");
  Scan();
  EXPECT_EQ(table.views().at(dir / "a.yaml").agents[0].agent->spec.description, "first");
  EXPECT_EQ(table.link_targets(), std::set<std::string>{fs::canonical(dir / "..v1").string()});
  fs::create_symlink("..v2", dir / "..data_tmp");
  fs::rename(dir / "..data_tmp", dir / "..data");
  Scan();
  EXPECT_EQ(table.views().at(dir / "a.yaml").agents[0].agent->spec.description, "second");
}

TEST_F(FileTableTest, AFileThatCantBeLookedAtIsBrokenAndNotGone) {
  fs::create_directory(dir / "mnt");
  dir.Write("mnt/a.yaml", AgentYaml("one"));
  fs::create_symlink("mnt/a.yaml", dir / "a.yaml");
  Scan();
  fs::rename(dir / "mnt", dir / "away");  // as a server that does not answer
  Scan();
  clock.Advance(std::chrono::hours(1));
  Scan();
  EXPECT_EQ(Names("a.yaml"), "one");
  EXPECT_FALSE(table.views().at(dir / "a.yaml").problems.empty());
  fs::rename(dir / "away", dir / "mnt");
  Scan();
  EXPECT_TRUE(table.views().at(dir / "a.yaml").problems.empty());
  fs::remove(dir / "a.yaml");
  Scan();
  clock.Advance(FileTable::kMissing);
  Scan();
  EXPECT_EQ(Names("a.yaml"), "-");
}

TEST_F(FileTableTest, AFifoOrADirectoryWithTheNameOfAManifestIsAProblemAndHangsNothing) {
  ASSERT_EQ(::mkfifo((dir / "f.yaml").c_str(), 0600), 0);
  fs::create_directory(dir / "d.yaml");
  Scan();
  EXPECT_FALSE(table.views().at(dir / "f.yaml").problems.empty());
  EXPECT_FALSE(table.views().at(dir / "d.yaml").problems.empty());
}

TEST_F(FileTableTest, ADirectoryThatIsGoneIsAnErrorAndChangesNothing) {
  dir.Write("a.yaml", AgentYaml("one"));
  Scan();
  fs::rename(dir.path(), dir.path() + ".away");
  EXPECT_FALSE(table.Scan({}));
  clock.Advance(std::chrono::hours(1));
  EXPECT_FALSE(table.Scan({}));
  EXPECT_EQ(Names("a.yaml"), "one");
  fs::rename(dir.path() + ".away", dir.path());
}

TEST_F(FileTableTest, AFileThatAnEarlierRunKnewAndThatIsEmptyNowIsDoubtedToo) {
  dir.Write("a.yaml", "");
  table.Seed(dir / "a.yaml", {{"default", "one"}});
  Scan();
  EXPECT_EQ(Names("a.yaml"), "one*");
  clock.Advance(FileTable::kSettle);
  Scan();
  EXPECT_EQ(Names("a.yaml"), "");
}

}  // namespace
}  // namespace beige
