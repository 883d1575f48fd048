#include "operator/store/status_store.h"

#include <gtest/gtest.h>

#include "api/load.h"
#include "base/files.h"
#include "tests/operator/temp_dir.h"

namespace beige {
namespace {
using testing::TempDir;

Agent WithStatus(int64_t generation) {
  Agent agent;
  agent.metadata.name = "one";
  agent.metadata.uid = "u";
  agent.status.observed_generation = generation;
  agent.status.conditions = {{"Ready", Truth::kTrue, "RoundTripOK", "", "2026-11-29T12:00:00.000Z", generation}};
  agent.local = AgentLocal{"/h/run/x/gateway.sock", "/h/agents/default/one/workspace", "/h/agents.d/a.yaml"};
  return agent;
}

TEST(StatusStoreTest, WritesTheWholeAgentAndOnlyWhenItDiffers) {
  TempDir home;
  HomePaths paths(home.path());
  StatusStore store(paths);
  EXPECT_EQ(store.Last({"default", "one"}), std::nullopt);
  EXPECT_TRUE(*store.Write(WithStatus(1)));
  EXPECT_FALSE(*store.Write(WithStatus(1)));
  const auto text = ReadFile(paths.StatusFile({"default", "one"}));
  ASSERT_TRUE(text);
  EXPECT_EQ(*DecodeAgent(*text), WithStatus(1));
  EXPECT_TRUE(*store.Write(WithStatus(2)));

  StatusStore later(paths);  // after a restart
  EXPECT_EQ(later.Last({"default", "one"}), WithStatus(2));
  EXPECT_FALSE(*later.Write(WithStatus(2)));
  EXPECT_EQ(later.OnDisk(), (std::set<AgentKey>{{"default", "one"}}));
}

TEST(StatusStoreTest, AFileRemovedByHandIsWrittenAgain) {
  TempDir home;
  HomePaths paths(home.path());
  StatusStore store(paths);
  ASSERT_TRUE(*store.Write(WithStatus(1)));
  ASSERT_TRUE(RemoveFile(paths.StatusFile({"default", "one"})));
  EXPECT_TRUE(*store.Write(WithStatus(1)));
}

TEST(StatusStoreTest, AnUnreadableFileCountsAsNone) {
  TempDir home;
  HomePaths paths(home.path());
  ASSERT_TRUE(MakeDirs(paths.StatusDir() + "/default", 0700));
  ASSERT_TRUE(WriteFileAtomic(paths.StatusFile({"default", "one"}), "{", 0600));
  StatusStore store(paths);
  EXPECT_EQ(store.Last({"default", "one"}), std::nullopt);
  EXPECT_TRUE(*store.Write(WithStatus(1)));
  ASSERT_TRUE(store.Remove({"default", "one"}));
  EXPECT_TRUE(store.OnDisk().empty());
}

}  // namespace
}  // namespace beige
