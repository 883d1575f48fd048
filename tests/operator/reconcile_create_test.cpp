#include <sys/stat.h>

#include <algorithm>

#include "tests/operator/reconcile_harness.h"

namespace beige::testing {
namespace {
using runtime::State;
using std::chrono::seconds;

TEST_F(ReconcileTest, ANewAgentBecomesReady) {
  MakeReady();
  const runtime::Observed sandbox = Only();
  EXPECT_EQ(sandbox.state, State::kRunning);
  EXPECT_EQ(sandbox.name, "beige-" + op->home.id.substr(0, 4) + "-" + Uid().substr(0, 8) + "-one");
  const Agent agent = *op->Get("one");
  EXPECT_EQ(agent.status.observed_generation, 1);
  EXPECT_EQ(agent.status.grant_generation, 1);
  EXPECT_EQ(agent.status.sandbox->id, sandbox.id);
  EXPECT_EQ(agent.status.sandbox->image, kImage);
  EXPECT_EQ(agent.status.sandbox->restarts, 0);
  EXPECT_EQ(agent.local->socket, op->paths.GatewaySocket(Uid()));
  EXPECT_EQ(agent.local->source, "one.yaml");
  EXPECT_EQ(op->Show("one", "EgressEnforced"), "True NoNetwork");
  EXPECT_EQ(op->Show("one", "UpToDate"), "True UpToDate");
  EXPECT_NE(op->Events().find("\"SandboxStarted\""), std::string::npos);
  EXPECT_NE(op->Events().find("\"Ready\""), std::string::npos);
}

TEST_F(ReconcileTest, ASettledAgentRunAgainMakesNoWritingCallAndNoStatusWrite) {
  MakeReady();
  op->Step();
  const int writes = runtime.WritingCalls();
  const auto said = gateway.Log();
  struct stat before {}, after {};
  ASSERT_EQ(::stat(op->paths.StatusFile({"default", "one"}).c_str(), &before), 0);
  for (int i = 0; i < 3; ++i) {
    op->queue.Add({"default", "one"});
    op->queue.Add(kSweepKey);
    op->AdvanceAndStep(seconds(60));
  }
  EXPECT_EQ(runtime.WritingCalls(), writes);
  EXPECT_EQ(gateway.Log(), said);
  ASSERT_EQ(::stat(op->paths.StatusFile({"default", "one"}).c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_F(ReconcileTest, TheAnnouncementComesAfterTheOldContainerIsGoneAndBeforeTheStart) {
  bool announced_before_start = true;
  on_start = [&](const std::string& id) {
    const auto sandbox = runtime.Observe(id);
    // Sent before the start; its arrival is the gateway's to see.
    announced_before_start = announced_before_start && gateway.AwaitLine("announce " + (*sandbox)->key.uid + " " + (*sandbox)->instance);
  };
  MakeReady();
  EXPECT_TRUE(announced_before_start);
  const std::string first = Only().id;
  Edit("  sandbox: {pidsLimit: 64}\n");
  size_t alive_at_start = 99;
  on_start = [&](const std::string&) { alive_at_start = runtime.List(op->home.id)->size(); };
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one") && Only().id != first; }));
  EXPECT_EQ(alive_at_start, 1u);
}

TEST_F(ReconcileTest, ToolsDescriptionAndLabelsAreGrantedLiveWithoutANewContainer) {
  MakeReady();
  const int writes = runtime.WritingCalls();
  Edit("  description: other\n  tools: [{name: kv}]\n");
  ASSERT_TRUE(op->Until([&] { return op->Get("one")->status.grant_generation == 2; }));
  EXPECT_TRUE(op->IsReady("one"));
  EXPECT_EQ(op->Get("one")->status.observed_generation, 2);
  op->Files({{"one.yaml", "apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: one, labels: {team: x}}\n"
                          "spec:\n  description: other\n  tools: [{name: kv}]\n"}});
  ASSERT_TRUE(op->Until([&] { return !op->Get("one")->metadata.labels.empty(); }));
  EXPECT_EQ(op->Get("one")->metadata.generation, 2) << "labels are not the spec";
  EXPECT_EQ(runtime.WritingCalls(), writes);
  const auto log = gateway.Log();
  EXPECT_EQ(std::count(log.begin(), log.end(), "put one 2"), 2) << "the labels are granted too";
}

TEST_F(ReconcileTest, AChangeThatShapesTheContainerMakesANewOne) {
  MakeReady();
  const runtime::Observed first = Only();
  Edit("  sandbox: {resources: {limits: {memory: 256Mi}}}\n");
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one") && Only().id != first.id; }));
  EXPECT_NE(Only().instance, first.instance);
  EXPECT_EQ(op->Get("one")->status.sandbox->restarts, 0) << "a wish is no restart";
}

TEST_F(ReconcileTest, AnInvalidNewVersionKeepsTheOldOneRunningAndSaysWhatIsWrong) {
  MakeReady();
  const runtime::Observed before = Only();
  Edit("  descriptoin: misspelt\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "Accepted") == "False UnknownField"; }));
  EXPECT_TRUE(op->IsReady("one"));
  EXPECT_EQ(Only(), before);
  EXPECT_EQ(op->Get("one")->metadata.generation, 1);
  EXPECT_EQ(op->Get("one")->status.observed_generation, 1);
  EXPECT_NE(op->Message("one", "Accepted").find("descriptoin"), std::string::npos);
  EXPECT_NE(op->Message("one", "Accepted").find("generation 1"), std::string::npos);
  EXPECT_NE(op->Events().find("UnknownField"), std::string::npos);
  op->Files({{"one.yaml", "apiVersion: [broken\n"}});  // the name is not even readable, so the merger keeps nothing: see merge_test
}

TEST_F(ReconcileTest, AnAgentThatWasNeverValidHasAStatusAndNothingElse) {
  Edit("  descriptoin: misspelt\n");
  op->Step();
  EXPECT_EQ(op->Show("one", "Accepted"), "False UnknownField");
  EXPECT_EQ(op->Show("one", "Ready"), "False UnknownField");
  EXPECT_EQ(op->Get("one")->metadata.uid, "");
  EXPECT_EQ(runtime.WritingCalls(), 0);
  op->Files({});
  op->Step();
  EXPECT_EQ(op->Get("one"), std::nullopt);
}

TEST_F(ReconcileTest, SuspendRemovesTheSandboxAndKeepsTheWorkspaceAndResumeMakesItAgain) {
  MakeReady();
  const std::string kept = op->paths.Workspace({"default", "one"}) + "/kept";
  ASSERT_TRUE(WriteFileAtomic(kept, "x", 0644));
  Edit("  description: test\n  operatingMode: Suspended\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "Suspended") == "True Suspended"; }));
  EXPECT_EQ(op->Show("one", "Ready"), "False Suspended");
  EXPECT_TRUE(Sandboxes().empty());
  EXPECT_EQ(op->Get("one")->status.sandbox, std::nullopt);
  Edit("  description: test\n");
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one"); }));
  EXPECT_TRUE(Exists(kept));
  EXPECT_EQ(op->Get("one")->status.sandbox->restarts, 0);
}

TEST_F(ReconcileTest, ADeletedAgentLosesAllButItsWorkspace) {
  MakeReady();
  const std::string uid = Uid();
  op->Files({});
  ASSERT_TRUE(op->Until([&] { return Sandboxes().empty() && !op->Get("one"); }));
  EXPECT_TRUE(gateway.AwaitLine("remove " + uid));
  EXPECT_FALSE(op->identities.KnowsUid(uid));
  EXPECT_TRUE(Exists(op->paths.Workspace({"default", "one"})));
  EXPECT_FALSE(Exists(op->paths.EtcDir(uid)));
  EXPECT_EQ(op->metrics.Expose(0, 0).find("agent=\"one\""), std::string::npos) << "series of a deleted agent";
  MakeReady();
  EXPECT_NE(Uid(), uid);
  EXPECT_EQ(op->Get("one")->metadata.generation, 1);
}

TEST_F(ReconcileTest, AWorkspaceThatIsNotRetainedGoesToTheTrash) {
  MakeReady("  workspace: {retentionPolicy: Delete}\n");
  ASSERT_TRUE(WriteFileAtomic(op->paths.Workspace({"default", "one"}) + "/f", "x", 0644));
  op->Files({});
  ASSERT_TRUE(op->Until([&] { return !op->Get("one"); }));
  EXPECT_FALSE(Exists(op->paths.Workspace({"default", "one"})));
  const auto trash = ListDir(op->paths.Trash());
  ASSERT_EQ(trash->size(), 1u);
  EXPECT_TRUE(Exists(op->paths.Trash() + "/" + trash->at(0) + "/f"));
}

TEST_F(ReconcileTest, DeletedAndAddedAgainAtOnceIsAnotherSandboxWithTheSameWorkspace) {
  MakeReady();
  const std::string uid = Uid();
  op->Files({});
  Edit("  description: test\n");  // before anything was done about the deletion
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one") && Uid() != uid; }));
  EXPECT_EQ(Only().key.uid, Uid());
  EXPECT_FALSE(op->identities.KnowsUid(uid));
}

TEST_F(ReconcileTest, ASecondFileWithTheSameNameIsRefusedAndTheFirstRunsOn) {
  MakeReady();
  const std::string id = Only().id;
  op->Files({{"one.yaml", AgentYaml("one")}, {"copy.yaml", AgentYaml("one", "  sandbox: {pidsLimit: 64}\n")}});
  ASSERT_TRUE(op->Until([&] { return op->Message("one", "Accepted").find("copy.yaml") != std::string::npos; }));
  EXPECT_EQ(op->Show("one", "Accepted"), "True Accepted");
  EXPECT_TRUE(op->IsReady("one"));
  EXPECT_EQ(Only().id, id);
  EXPECT_NE(op->Events().find("DuplicateAgent"), std::string::npos);
}

TEST_F(ReconcileTest, AnUnknownToolIsNamedAndTheRestWorks) {
  gateway.UnknownTool("nope");
  MakeReady("  tools: [{name: kv}, {name: nope}]\n");
  EXPECT_EQ(op->Show("one", "PolicyInForce"), "True ToolUnknown");
  EXPECT_NE(op->Message("one", "PolicyInForce").find("nope"), std::string::npos);
}

TEST_F(ReconcileTest, ManyAgentsBecomeReadyEachWithItsOwn) {
  std::map<std::string, std::string> files;
  for (int i = 0; i < 20; ++i) files["f" + std::to_string(i)] = AgentYaml("a" + std::to_string(i));
  op->Files(files);
  ASSERT_TRUE(op->Until([&] {
    for (int i = 0; i < 20; ++i) {
      if (!op->IsReady("a" + std::to_string(i))) return false;
    }
    return true;
  }));
  std::set<std::string> uids;
  for (const auto& sandbox : Sandboxes()) uids.insert(sandbox.key.uid);
  EXPECT_EQ(uids.size(), 20u);
}

}  // namespace
}  // namespace beige::testing
