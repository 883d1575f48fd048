#include <fstream>

#include "tests/operator/reconcile_harness.h"

namespace beige::testing {
namespace {
using runtime::State;
using std::chrono::seconds;
constexpr int64_t kMiB = 1 << 20;

class DiskTest : public ReconcileTest {
 protected:
  DiskTest() {
    OperatorConfig settings;
    settings.disk_min_free = 16 * kMiB;
    op->config.Set(std::make_shared<const OperatorConfig>(settings));
    op->Files({{"one.yaml", AgentYaml("one", "  description: test\n")}, {"two.yaml", AgentYaml("two", "  description: test\n")}});
  }
  void Look(int64_t free) {
    op->free_space = free;
    op->queue.Add(kDiskKey);
    op->Step();
  }
  void LookAtFiles(int64_t free) {
    op->free_files = free;
    op->queue.Add(kDiskKey);
    op->Step();
  }
  void Grow(const std::string& agent, size_t bytes) {
    std::ofstream(op->paths.Workspace({"default", agent}) + "/big", std::ios::app) << std::string(bytes, 'x');
  }
  State StateOf(const std::string& agent) {
    for (const auto& sandbox : Sandboxes()) {
      if (sandbox.key.agent == agent) return sandbox.state;
    }
    return State::kUnknown;
  }
};

TEST_F(DiskTest, AFullDiskStopsTheLargestGrowerOnlyAndItGoesOnWhenThereIsSpace) {
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one") && op->IsReady("two"); }));
  clock.Advance(seconds(60));
  Look(30 * kMiB);
  Grow("one", 4 * kMiB);
  Look(10 * kMiB);
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "SandboxRunning") == "False DiskPressure"; })) << op->Show("one", "SandboxRunning");
  EXPECT_EQ(op->Show("one", "Ready"), "False DiskPressure");
  EXPECT_NE(op->Message("one", "Ready").find("disk.minFree of 16 MiB"), std::string::npos) << op->Message("one", "Ready");
  EXPECT_EQ(StateOf("one"), State::kExited);
  EXPECT_TRUE(op->IsReady("two"));
  EXPECT_NE(op->Events().find("DiskPressure"), std::string::npos);
  Look(10 * kMiB);
  op->AdvanceAndStep(seconds(600));
  EXPECT_EQ(StateOf("one"), State::kExited) << "it must not come back while the disk is full";
  Look(20 * kMiB);
  EXPECT_EQ(StateOf("one"), State::kExited) << "nor at the very limit, to and fro";
  EXPECT_EQ(StateOf("two"), State::kRunning);
  Look(40 * kMiB);
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one"); })) << op->Show("one", "Ready");
  EXPECT_EQ(op->Get("one")->status.sandbox->restarts, 0) << "it was not its own end";
}

TEST_F(DiskTest, WhatToolsAndSessionsKeepForAnAgentIsItsOwn) {
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one") && op->IsReady("two"); }));
  const std::string kept = op->paths.ToolData(op->Get("one")->metadata.uid, "keep");
  const std::string sessions = op->paths.SessionsDir({"default", "two"});
  ASSERT_TRUE(MakeDirs(kept, 0755));
  ASSERT_TRUE(MakeDirs(sessions, 0755));
  Look(30 * kMiB);
  std::ofstream(kept + "/big") << std::string(4 * kMiB, 'x');
  Look(10 * kMiB);
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "Ready") == "False DiskPressure"; })) << op->Show("one", "Ready");
  EXPECT_TRUE(op->IsReady("two"));
  std::ofstream(sessions + "/big.jsonl") << std::string(4 * kMiB, 'x');
  Look(6 * kMiB);
  ASSERT_TRUE(op->Until([&] { return op->Show("two", "Ready") == "False DiskPressure"; })) << op->Show("two", "Ready");
}

TEST_F(DiskTest, ADiskThatTakesNoMoreFilesStopsWhoMadeThem) {
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one") && op->IsReady("two"); }));
  LookAtFiles(150);
  for (int i = 0; i < 60; ++i) std::ofstream(op->paths.Workspace({"default", "two"}) + "/" + std::to_string(i));
  LookAtFiles(90);
  ASSERT_TRUE(op->Until([&] { return op->Show("two", "Ready") == "False DiskPressure"; })) << op->Show("two", "Ready");
  EXPECT_NE(op->Message("two", "Ready").find("fewer than 100 files could be made"), std::string::npos) << op->Message("two", "Ready");
  EXPECT_TRUE(op->IsReady("one"));
  LookAtFiles(190);
  EXPECT_EQ(StateOf("two"), State::kExited);
  LookAtFiles(200);
  ASSERT_TRUE(op->Until([&] { return op->IsReady("two"); })) << op->Show("two", "Ready");
}

}  // namespace
}  // namespace beige::testing
