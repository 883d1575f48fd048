#include <unistd.h>

#include <algorithm>

#include "tests/operator/reconcile_harness.h"

namespace beige::testing {
namespace {
using runtime::State;
using runtime::fake::Operation;
using std::chrono::seconds;

TEST_F(ReconcileTest, AnEngineThatIsAwayAtTheStartIsNamedAndFoundLater) {
  runtime.SetAvailable(false);
  Edit("  description: test\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "SandboxRunning") == "Unknown EngineUnavailable"; }));
  EXPECT_EQ(op->Show("one", "Ready"), "False EngineUnavailable");
  EXPECT_NE(op->Message("one", "Ready"), "");
  runtime.SetAvailable(true);
  clock.Advance(seconds(2));
  EXPECT_TRUE(op->Until([&] { return op->IsReady("one"); }));
}

TEST_F(ReconcileTest, AnEngineThatGoesAwayAndComesBackCostsNoSandbox) {
  MakeReady();
  const runtime::Observed before = Only();
  runtime.SetAvailable(false);
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "Ready") == "False EngineUnavailable"; }));
  EXPECT_EQ(op->Get("one")->status.sandbox->id, before.id) << "not known to be gone";
  runtime.SetAvailable(true);
  clock.Advance(seconds(2));
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one"); }));
  EXPECT_EQ(Only(), before);
}

TEST_F(ReconcileTest, ADeletionWhileTheEngineIsAwayIsDoneWhenItIsBack) {
  MakeReady();
  runtime.SetAvailable(false);
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "Ready") == "False EngineUnavailable"; }));
  op->Files({});
  op->Step();
  EXPECT_TRUE(op->Get("one")) << "not deleted yet";
  runtime.SetAvailable(true);
  clock.Advance(seconds(2));
  EXPECT_TRUE(op->Until([&] { return Sandboxes().empty() && !op->Get("one"); }));
}

TEST_F(ReconcileTest, AGatewayThatGoesAwayCostsNoSandboxAndStartsWaitForIt) {
  MakeReady();
  const runtime::Observed before = Only();
  gateway.Close();
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "PolicyInForce") == "Unknown GatewayUnavailable"; }));
  EXPECT_EQ(op->Show("one", "Ready"), "False GatewayUnavailable");
  EXPECT_EQ(Only(), before);
  clock.Advance(seconds(100));
  runtime.Kill(before.id);
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "SandboxRunning") == "False WaitingForGateway"; }));
  EXPECT_EQ(Only().state, State::kExited);
  gateway.Listen();
  EXPECT_TRUE(op->Until([&] { return op->IsReady("one"); }));
  EXPECT_EQ(Only().id, before.id);
}

TEST_F(ReconcileTest, ARefusedGrantIsSaidAndTriedAgainAndTheFormerStaysInForce) {
  MakeReady();
  gateway.Reject(Uid(), "no cell for kv");
  Edit("  description: test\n  tools: [{name: kv}]\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "PolicyInForce") == "False GrantRejected"; }));
  EXPECT_TRUE(op->IsReady("one"));
  EXPECT_EQ(op->Get("one")->status.grant_generation, 1);
  const auto puts = [&] {
    const auto log = gateway.Log();
    return std::count(log.begin(), log.end(), "put one 2");
  };
  op->AdvanceAndStep(seconds(10));
  EXPECT_EQ(puts(), 1);
  op->AdvanceAndStep(seconds(30));
  EXPECT_EQ(puts(), 2);
}

TEST_F(ReconcileTest, AWiderRangeOfUidsReachesTheAgentThatHadNone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives uids of their own";
  OperatorConfig narrow;
  narrow.uid_first = narrow.uid_last = 200000;
  op->config.Set(std::make_shared<const OperatorConfig>(narrow));
  op->Files({{"one.yaml", AgentYaml("one")}, {"two.yaml", AgentYaml("two")}});
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one") || op->IsReady("two"); }));
  const std::string other = op->IsReady("one") ? "two" : "one";
  ASSERT_TRUE(op->Until([&] { return op->Show(other, "Accepted") == "False NotPermitted"; }));
  narrow.uid_last = 200001;
  op->config.Set(std::make_shared<const OperatorConfig>(narrow));
  op->LookAgain();
  EXPECT_TRUE(op->Until([&] { return op->IsReady(other); }));
}

TEST_F(ReconcileTest, AnUnansweredSyncStartsNothing) {
  gateway.Hang("sync");
  gateway.Hang("put");
  Edit("  description: test\n");
  ASSERT_TRUE(gateway.AwaitLine("sync one"));
  op->Step();
  EXPECT_TRUE(Sandboxes().empty());
  EXPECT_EQ(op->Show("one", "PolicyInForce"), "Unknown Pending");
}

TEST_F(ReconcileTest, AMissingDefaultImageIsLoadedFromItsFile) {
  runtime.RemoveImage(kImage);
  Edit("  description: test\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "ImageReady") == "False ImageMissing"; }));
  EXPECT_EQ(op->Show("one", "Ready"), "False ImageMissing");
  EXPECT_NE(op->Message("one", "ImageReady").find("build.sh"), std::string::npos);
  home.Write("image.tar", "x");
  runtime.OfferImage(home / "image.tar", kImage);
  clock.Advance(seconds(6));
  EXPECT_TRUE(op->Until([&] { return op->IsReady("one"); }));
}

TEST_F(ReconcileTest, AFailedPullHasAReasonAndIsTriedAgainWithBackoff) {
  Edit("  sandbox: {image: \"example.org/x:1\"}\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "ImageReady") == "False ImagePullFailed"; }));
  const int pulls = runtime.Calls(Operation::kPullImage);
  for (int i = 0; i < 3; ++i) {
    op->queue.Add({"default", "one"});
    op->AdvanceAndStep(seconds(1));
  }
  EXPECT_EQ(runtime.Calls(Operation::kPullImage), pulls);
  runtime.OfferImage("example.org/x:1", "example.org/x:1");
  clock.Advance(seconds(5));
  EXPECT_TRUE(op->Until([&] { return op->IsReady("one"); }));
}

TEST_F(ReconcileTest, OnePullServesAllWhoWaitForTheImage) {
  runtime.OfferImage("example.org/x:1", "example.org/x:1");
  std::map<std::string, std::string> files;
  for (int i = 0; i < 8; ++i) files["f" + std::to_string(i)] = AgentYaml("a" + std::to_string(i), "  sandbox: {image: \"example.org/x:1\"}\n");
  op->Files(files);
  ASSERT_TRUE(op->Until([&] {
    for (int i = 0; i < 8; ++i) {
      if (!op->IsReady("a" + std::to_string(i))) return false;
    }
    return true;
  }));
  EXPECT_EQ(runtime.Calls(Operation::kPullImage), 1);
}

TEST_F(ReconcileTest, AnImageThatIsMissingForANewVersionLeavesTheOldSandboxRunning) {
  MakeReady();
  const runtime::Observed before = Only();
  Edit("  sandbox: {image: \"example.org/absent:1\", imagePullPolicy: Never}\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "ImageReady") == "False ImageMissing"; }));
  EXPECT_EQ(Only(), before);
  EXPECT_EQ(op->Show("one", "SandboxRunning"), "True Running");
  EXPECT_EQ(op->Show("one", "Ready"), "False ImageMissing") << "what was asked for does not run";
  EXPECT_EQ(op->Show("one", "UpToDate"), "False SpecChanged");
}

TEST_F(ReconcileTest, AVolumeThatIsNotPermittedIsSaidAndWhatRunsIsKept) {
  MakeReady();
  const runtime::Observed before = Only();
  Edit("  sandbox:\n    volumes: [{name: v, mountPath: /data, hostPath: {path: /etc}}]\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "Accepted") == "False NotPermitted"; }));
  EXPECT_EQ(Only(), before);
  EXPECT_TRUE(op->IsReady("one"));
  EXPECT_NE(op->Message("one", "Accepted").find("/etc"), std::string::npos);
}

TEST_F(ReconcileTest, AFailedCreateIsSaidAndTriedAgainLater) {
  // Until it was seen: anything that happens to the agent has it tried again before its time.
  runtime.FailNext(Operation::kCreate, Error{Code::kInvalid, "invalid hostname"}, 1000);
  Edit("  description: test\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "SandboxRunning") == "False CreateFailed"; }));
  EXPECT_NE(op->Message("one", "SandboxRunning").find("invalid hostname"), std::string::npos);
  runtime.FailNext(Operation::kCreate, {}, 0);
  clock.Advance(seconds(5));
  EXPECT_TRUE(op->Until([&] { return op->IsReady("one"); }));
}

TEST_F(ReconcileTest, ACopiedHomeTouchesNothing) {
  MakeReady();
  const runtime::Observed before = Only();
  op.reset();
  ASSERT_TRUE(WriteFileAtomic(home / "data/operator/home.json",
                              "{\"id\":\"" + before.key.home + "\",\"inode\":1,\"machineId\":\"elsewhere\"}", 0600));
  const int writes = runtime.WritingCalls();
  Boot();
  Edit("  sandbox: {pidsLimit: 64}\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "Ready") == "False HomeCopied"; }));
  EXPECT_NE(op->Message("one", "Ready").find("beige adopt"), std::string::npos);
  op->Files({});
  op->Step();
  op->AdvanceAndStep(seconds(60));
  EXPECT_EQ(runtime.WritingCalls(), writes);
  EXPECT_EQ(runtime.List(before.key.home)->size(), 1u);
}

TEST_F(ReconcileTest, OneThatIsDeletedAndAddedAgainWhileTheEngineIsAwayWaitsForTheOldOneToGo) {
  MakeReady("  workspace: {retentionPolicy: Delete}\n");
  const std::string uid = Uid();
  runtime.SetAvailable(false);
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "Ready") == "False EngineUnavailable"; }));
  op->Files({});
  Edit("  description: new\n");
  ASSERT_TRUE(op->Until([&] { return op->Get("one")->spec.description == "new"; }));
  EXPECT_EQ(op->Show("one", "Ready"), "False EngineUnavailable");
  runtime.SetAvailable(true);
  clock.Advance(seconds(2));
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one"); }));
  EXPECT_NE(Uid(), uid);
  EXPECT_EQ(Only().key.uid, Uid());
  EXPECT_EQ(ListDir(op->paths.Trash())->size(), 1u);
  EXPECT_TRUE(Exists(op->paths.Workspace({"default", "one"})));
}

}  // namespace
}  // namespace beige::testing
