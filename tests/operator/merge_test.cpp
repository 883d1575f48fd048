#include "operator/source/merge.h"

#include <gtest/gtest.h>

#include "tests/operator/temp_dir.h"

namespace beige {
namespace {
using testing::AgentYaml;
const AgentKey kOne{"default", "one"};

FileView View(const std::string& text, const std::string& file) {
  LoadedFile loaded = LoadAgents(text, file);
  return {loaded.agents, loaded.problems, {}};
}

TEST(MergeTest, TheFirstFileThatHeldANameKeepsItAndTheSecondIsRefusedByName) {
  Merger merger;
  merger.Merge({{"/d/b.yaml", View(AgentYaml("one", "  description: b\n"), "/d/b.yaml")}});
  const Snapshot both = merger.Merge({{"/d/a.yaml", View(AgentYaml("one", "  description: a\n"), "/d/a.yaml")},
                                      {"/d/b.yaml", View(AgentYaml("one", "  description: b\n"), "/d/b.yaml")}});
  const SourceAgent& agent = both.agents.at(kOne);
  EXPECT_EQ(agent.file, "/d/b.yaml");
  EXPECT_EQ(agent.agent->spec.description, "b");
  ASSERT_EQ(agent.conflicts.size(), 1u);
  EXPECT_EQ(agent.conflicts[0].file, "/d/a.yaml");
  EXPECT_NE(agent.conflicts[0].message.find("/d/b.yaml"), std::string::npos) << agent.conflicts[0].message;
  EXPECT_EQ(both.problems, agent.conflicts);
}

TEST(MergeTest, WhenTheHolderGoesTheSecondTakesOver) {
  Merger merger;
  const auto a = View(AgentYaml("one", "  description: a\n"), "/d/a.yaml");
  const auto b = View(AgentYaml("one", "  description: b\n"), "/d/b.yaml");
  merger.Merge({{"/d/a.yaml", a}, {"/d/b.yaml", b}});
  FileView leaving;
  leaving.lingering = {kOne};
  const Snapshot moving = merger.Merge({{"/d/a.yaml", leaving}, {"/d/b.yaml", b}});
  EXPECT_EQ(moving.agents.at(kOne).file, "/d/b.yaml");
  EXPECT_TRUE(moving.agents.at(kOne).conflicts.empty()) << "a file that is being renamed is no conflict";
}

TEST(MergeTest, AnInvalidNewVersionKeepsTheLastGoodOneAndSaysWhatIsWrong) {
  Merger merger;
  merger.Merge({{"/d/a.yaml", View(AgentYaml("one", "  description: good\n"), "/d/a.yaml")}});
  const Snapshot bad = merger.Merge({{"/d/a.yaml", View(AgentYaml("one", "  descriptoin: bad\n"), "/d/a.yaml")}});
  const SourceAgent& agent = bad.agents.at(kOne);
  ASSERT_TRUE(agent.agent);
  EXPECT_EQ(agent.agent->spec.description, "good");
  ASSERT_FALSE(agent.problems.empty());
  EXPECT_EQ(agent.problems[0].reason, "UnknownField");
}

TEST(MergeTest, AnAgentThatWasNeverValidIsThereWithoutASpec) {
  Merger merger;
  const Snapshot bad = merger.Merge({{"/d/a.yaml", View(AgentYaml("one", "  descriptoin: bad\n"), "/d/a.yaml")}});
  EXPECT_FALSE(bad.agents.at(kOne).agent);
  EXPECT_FALSE(bad.agents.at(kOne).problems.empty());
}

TEST(MergeTest, AFileBrokenAsAWholePutsItsProblemOnEachOfItsAgents) {
  Merger merger;
  FileView view = View(AgentYaml("one") + "---\n" + AgentYaml("two"), "/d/a.yaml");
  merger.Merge({{"/d/a.yaml", view}});
  view.problems = {{.file = "/d/a.yaml", .line = 3, .column = 1, .path = "", .message = "syntax", .reason = "InvalidSpec"}};
  const Snapshot broken = merger.Merge({{"/d/a.yaml", view}});
  EXPECT_EQ(broken.agents.size(), 2u);
  for (const auto& [key, agent] : broken.agents) EXPECT_EQ(agent.problems, view.problems) << key.ToString();
}

TEST(MergeTest, WhatAnEarlierRunAcceptedIsKeptThroughARestartWithABrokenFile) {
  Merger merger;
  Agent known;
  known.metadata.name = "one";
  known.spec.description = "from before";
  merger.Seed({known, "/d/a.yaml"});
  FileView view;
  view.lingering = {kOne};
  view.problems = {{.file = "/d/a.yaml", .line = 1, .column = 1, .path = "", .message = "syntax", .reason = "InvalidSpec"}};
  const Snapshot snapshot = merger.Merge({{"/d/a.yaml", view}});
  ASSERT_TRUE(snapshot.agents.at(kOne).agent);
  EXPECT_EQ(snapshot.agents.at(kOne).agent->spec.description, "from before");
  EXPECT_EQ(snapshot.agents.at(kOne).problems.size(), 1u);
}

}  // namespace
}  // namespace beige
