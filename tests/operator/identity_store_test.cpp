#include "operator/store/identity_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "tests/operator/temp_dir.h"

namespace beige {
namespace {
using testing::TempDir;
const AgentKey kOne{"default", "one"};
const UidPolicy kRange{.may_chown = true, .first = 200000, .last = 200002, .owner_uid = 0, .owner_gid = 0};
const UidPolicy kOwner{.may_chown = false, .first = 200000, .last = 265535, .owner_uid = 1000, .owner_gid = 1001};

Agent Named(const std::string& name, const std::string& description = "") {
  Agent agent;
  agent.metadata.name = name;
  agent.spec.description = description;
  return agent;
}

class IdentityStoreTest : public ::testing::Test {
 protected:
  IdentityStoreTest() { EXPECT_TRUE(store.Load()); }
  TempDir home;
  HomePaths paths{home.path()};
  ManualClock clock;
  IdentityStore store{paths, clock};
};

TEST_F(IdentityStoreTest, GenerationGrowsByOnePerChangeOfSpecAndByNothingElse) {
  const auto first = store.Ensure(Named("one", "a"), "f.yaml", kRange);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->agent.metadata.generation, 1);
  EXPECT_EQ(first->uid().size(), 36u);
  EXPECT_EQ(first->agent.metadata.creation_time, FormatTime(clock.WallNow()));
  clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(*store.Ensure(Named("one", "a"), "f.yaml", kRange), *first);
  Agent labelled = Named("one", "a");
  labelled.metadata.labels["team"] = "x";
  EXPECT_EQ(store.Ensure(labelled, "f.yaml", kRange)->agent.metadata.generation, 1);
  EXPECT_EQ(store.Ensure(Named("one", "b"), "f.yaml", kRange)->agent.metadata.generation, 2);
  EXPECT_EQ(store.Ensure(Named("one", "a"), "f.yaml", kRange)->agent.metadata.generation, 3);
  EXPECT_EQ(store.All().at(0).agent.metadata.creation_time, first->agent.metadata.creation_time);
}

TEST_F(IdentityStoreTest, AnUnchangedAgentIsNotWrittenAgain) {
  ASSERT_TRUE(store.Ensure(Named("one"), "f.yaml", kRange));
  struct stat before {}, after {};
  const std::string file = paths.IdentitiesDir() + "/default/one.json";
  ASSERT_EQ(::stat(file.c_str(), &before), 0);
  ASSERT_TRUE(store.Ensure(Named("one"), "f.yaml", kRange));
  ASSERT_EQ(::stat(file.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_F(IdentityStoreTest, AnotherProcessReadsTheSame) {
  Agent agent = Named("one", "kept through a restart");
  agent.spec.tools = {{"kv"}};
  const auto made = store.Ensure(agent, "f.yaml", kRange);
  IdentityStore other(paths, clock);
  ASSERT_TRUE(other.Load());
  ASSERT_EQ(other.All().size(), 1u);
  EXPECT_EQ(other.All()[0], *made);
}

TEST_F(IdentityStoreTest, EveryAgentHasAUidOfItsOwnUntilTheRangeIsUsedUp) {
  std::set<uint32_t> uids;
  for (const char* name : {"a", "b", "c"}) uids.insert(store.Ensure(Named(name), "f", kRange)->sandbox_uid);
  EXPECT_EQ(uids, (std::set<uint32_t>{200000, 200001, 200002}));
  const auto none = store.Ensure(Named("d"), "f", kRange);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kExhausted);
  EXPECT_NE(none.error().message.find("uidRange"), std::string::npos) << none.error().message;
}

TEST_F(IdentityStoreTest, WithoutThePowerToChownTheHomesOwnerRunsItAndRootNever) {
  const auto made = store.Ensure(Named("one"), "f", kOwner);
  EXPECT_EQ(made->sandbox_uid, 1000u);
  EXPECT_EQ(made->sandbox_gid, 1001u);
  UidPolicy root = kOwner;
  root.owner_uid = 0;
  const auto refused = store.Ensure(Named("two"), "f", root);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kDenied);
}

TEST_F(IdentityStoreTest, DeletedAndAddedAgainIsSomebodyElseAtOnce) {
  const auto first = store.Ensure(Named("one"), "f", kRange);
  ASSERT_TRUE(store.Bury(kOne));
  EXPECT_TRUE(store.All().empty());
  EXPECT_TRUE(store.KnowsUid(first->uid())) << "its container is not a stray yet";
  const auto second = store.Ensure(Named("one"), "f", kRange);
  EXPECT_NE(second->uid(), first->uid());
  EXPECT_NE(second->sandbox_uid, first->sandbox_uid);
  EXPECT_EQ(second->agent.metadata.generation, 1);
  ASSERT_EQ(store.Tombstones(kOne).size(), 1u);
  EXPECT_EQ(store.Tombstones(kOne)[0], *first);
  ASSERT_TRUE(store.Forget(first->uid()));
  EXPECT_FALSE(store.KnowsUid(first->uid()));
  EXPECT_TRUE(store.Tombstones(kOne).empty());
}

TEST_F(IdentityStoreTest, TombstonesOutliveTheProcess) {
  const auto first = store.Ensure(Named("one"), "f", kRange);
  ASSERT_TRUE(store.Bury(kOne));
  IdentityStore other(paths, clock);
  ASSERT_TRUE(other.Load());
  EXPECT_EQ(other.TombstoneKeys(), std::set<AgentKey>{kOne});
}

TEST_F(IdentityStoreTest, ACrashInTheMiddleOfADeleteLeavesItDeleted) {
  const auto first = store.Ensure(Named("one"), "f", kRange);
  const std::string file = paths.IdentitiesDir() + "/default/one.json";
  const auto text = ReadFile(file);
  ASSERT_TRUE(store.Bury(kOne));
  ASSERT_TRUE(WriteFileAtomic(file, *text, 0600));  // as if the process had died before it removed it
  IdentityStore other(paths, clock);
  ASSERT_TRUE(other.Load());
  EXPECT_TRUE(other.All().empty());
  EXPECT_EQ(other.TombstoneKeys(), std::set<AgentKey>{kOne});
}

TEST_F(IdentityStoreTest, AFileThatIsNoIdentityIsAnErrorThatNamesIt) {
  ASSERT_TRUE(MakeDirs(paths.IdentitiesDir() + "/default", 0700));
  ASSERT_TRUE(WriteFileAtomic(paths.IdentitiesDir() + "/default/one.json", "{\"uid\":", 0600));
  IdentityStore other(paths, clock);
  const auto loaded = other.Load();
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("default/one.json"), std::string::npos);
}

TEST_F(IdentityStoreTest, AKeptWorkspaceGivesItsUidBackToTheNextIncarnation) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a directory away";
  ASSERT_TRUE(MakeDirs(paths.Workspace(kOne), 0700));
  ASSERT_EQ(::chown(paths.Workspace(kOne).c_str(), 200002, 200002), 0);
  EXPECT_EQ(store.Ensure(Named("one"), "f", kRange)->sandbox_uid, 200002u);
  EXPECT_EQ(store.Ensure(Named("two"), "f", kRange)->sandbox_uid, 200000u);
}

}  // namespace
}  // namespace beige
