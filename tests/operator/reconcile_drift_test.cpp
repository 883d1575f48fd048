#include <filesystem>

#include "tests/operator/reconcile_harness.h"

namespace beige::testing {
namespace {
using runtime::State;
using std::chrono::seconds;

TEST_F(ReconcileTest, AKilledSandboxIsStartedAgain) {
  MakeReady();
  const std::string id = Only().id;
  clock.Advance(seconds(100));
  runtime.Kill(id);
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one") && op->Get("one")->status.sandbox->restarts == 1; }));
  EXPECT_EQ(Only().id, id);
  EXPECT_EQ(Only().state, State::kRunning);
}

TEST_F(ReconcileTest, ARemovedSandboxIsMadeAgain) {
  MakeReady();
  const std::string id = Only().id;
  clock.Advance(seconds(100));
  runtime.RemoveByHand(id);
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one") && !Sandboxes().empty(); }));
  EXPECT_NE(Only().id, id);
  EXPECT_EQ(op->Get("one")->status.sandbox->restarts, 1);
}

TEST_F(ReconcileTest, APausedOneIsUnpausedAndARenamedOneGetsItsNameBack) {
  MakeReady();
  const runtime::Observed before = Only();
  runtime.Pause(before.id);
  ASSERT_TRUE(op->Until([&] { return Only().state == State::kRunning; }));
  runtime.RenameByHand(before.id, "elsewhere");
  ASSERT_TRUE(op->Until([&] { return Only().name == before.name; }));
  EXPECT_EQ(Only().id, before.id);
}

TEST_F(ReconcileTest, OneWhoseSettingsWereChangedByHandIsReplaced) {
  MakeReady();
  const std::string id = Only().id;
  runtime.Edit(id, [](runtime::engine::ContainerInspect& c) { c.user = "0:0"; });
  op->index.Suspect(Uid());  // what the engine's `update` event does
  op->queue.Add({"default", "one"});
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one") && !Sandboxes().empty() && Only().id != id; }));
  EXPECT_EQ(op->Show("one", "IsolationVerified"), "True Verified");
}

TEST_F(ReconcileTest, AFreshOneThatIsNotIsolatedAsAskedIsStoppedAndReported) {
  on_start = [&](const std::string& id) { runtime.Edit(id, [](runtime::engine::ContainerInspect& c) { c.user = "0:0"; }); };
  Edit("  description: test\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "IsolationVerified") == "False IsolationMismatch"; }));
  ASSERT_TRUE(op->Until([&] { return Only().state == State::kExited; }));
  op->queue.Add({"default", "one"});
  op->AdvanceAndStep(seconds(600));
  EXPECT_EQ(Only().state, State::kExited) << "it must not come back by itself";
  EXPECT_EQ(op->Show("one", "Ready"), "False IsolationMismatch");
  EXPECT_NE(op->Message("one", "IsolationVerified").find("0:0"), std::string::npos);
}

// The gateway may write where these lie, and it hears of a start just before it happens.
TEST_F(ReconcileTest, ALinkInPlaceOfWhatIsMountedIsAMismatchAndIsNeverMountedAnew) {
  namespace fs = std::filesystem;
  for (const char* what : {"skills", "run", "workspace", "parent"}) {
    SCOPED_TRACE(what);
    const std::string name = std::string("of-") + what;
    fs::create_directories(home / "elsewhere/workspace");
    on_start = [&](const std::string& id) {
      const std::string uid = (*runtime.Observe(id))->key.uid;
      const std::string workspace = op->paths.Workspace({"default", name});
      const std::map<std::string, std::string> places{
          {"skills", op->paths.SkillsDir(uid)}, {"run", op->paths.LinkDir(uid)}, {"workspace", workspace}, {"parent", fs::path(workspace).parent_path()}};
      fs::rename(places.at(what), home / ("away-" + name));
      fs::create_directory_symlink(home / "elsewhere", places.at(what));
    };
    op->Files({{name + ".yaml", AgentYaml(name, "  description: test\n")}});
    ASSERT_TRUE(op->Until([&] { return op->Show(name, "IsolationVerified") == "False IsolationMismatch"; })) << op->Message(name, "Ready");
    EXPECT_NE(op->Message(name, "IsolationVerified").find("a link on the way to " + home / "elsewhere"), std::string::npos) << op->Message(name, "IsolationVerified");
    // Another container than that one would have the link in it as well.
    on_start = [](const std::string&) {};
    const int made = runtime.WritingCalls();
    op->Files({{name + ".yaml", AgentYaml(name, "  description: test\n  sandbox: {env: [{name: A, value: b}]}\n")}});
    ASSERT_TRUE(op->Until([&] { return op->Show(name, "SandboxRunning") == "False CreateFailed" || op->Show(name, "SandboxRunning") == "False PrepareFailed"; }))
        << op->Show(name, "SandboxRunning") << op->Message(name, "SandboxRunning") << made;
  }
}

TEST_F(ReconcileTest, SomebodyElsesContainerUnderOurNameIsLeftAlone) {
  registers = true;
  Edit("  description: test\n  operatingMode: Suspended\n");
  op->Step();
  const std::string name = "beige-" + op->home.id.substr(0, 4) + "-" + Uid().substr(0, 8) + "-one";
  const std::string foreign = runtime.AddForeign(name);
  Edit("  description: test\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "SandboxRunning") == "False NameConflict"; }));
  EXPECT_NE(op->Message("one", "SandboxRunning").find(name), std::string::npos);
  op->AdvanceAndStep(seconds(60));
  EXPECT_TRUE(runtime.FindByName(name)->has_value());
  EXPECT_EQ((*runtime.FindByName(name))->id, foreign);
  runtime.RemoveByHand(foreign);
  op->queue.Add({"default", "one"});
  EXPECT_TRUE(op->Until([&] { return op->IsReady("one"); }));
}

TEST_F(ReconcileTest, AfterARestartSandboxesAreAdoptedWithoutAWrite) {
  MakeReady();
  const runtime::Observed before = Only();
  const int writes = runtime.WritingCalls();
  const Agent status = *op->Get("one");
  Restart();
  Edit("  description: test\n");
  bool said = false;
  ASSERT_TRUE(op->Until([&] {
    EXPECT_EQ(op->Get("one"), status) << "what is not known yet is no news";
    SayRegisteredAgain(before, said);
    return op->Facts(before.key.uid).round_trip == true;
  }));
  clock.Advance(seconds(4));
  op->queue.Add({"default", "one"});
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one"); }));
  EXPECT_EQ(*op->Get("one"), status);
  EXPECT_TRUE(gateway.AwaitLine("probe " + before.key.uid));
  EXPECT_EQ(runtime.WritingCalls(), writes);
  EXPECT_EQ(Only(), before);
  EXPECT_EQ(op->Get("one")->metadata.generation, 1);
  EXPECT_NE(op->metrics.Expose(0, 0).find("agent=\"one\""), std::string::npos) << "the new process shows it too";
}

TEST_F(ReconcileTest, AnOperatorWithOtherDefaultsAdoptsWhatWasMadeWithTheOldOnes) {
  MakeReady();
  const runtime::Observed before = Only();
  Restart();
  OperatorConfig config;
  config.default_memory_bytes = 512 << 20;
  op->config.Set(std::make_shared<const OperatorConfig>(config));
  Edit("  description: test\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "IsolationVerified") == "True Verified"; }));
  EXPECT_EQ(Only(), before);
}

TEST_F(ReconcileTest, AnAgentDeletedWhileTheOperatorWasDownIsCleanedUp) {
  MakeReady();
  const std::string uid = Uid();
  Restart();
  op->Files({});
  ASSERT_TRUE(op->Until([&] { return Sandboxes().empty() && !op->Get("one"); }));
  EXPECT_FALSE(op->identities.KnowsUid(uid));
}

TEST_F(ReconcileTest, AFileThatIsInvalidAtARestartKeepsItsAgent) {
  MakeReady();
  const runtime::Observed before = Only();
  Restart();
  Edit("  descriptoin: misspelt\n");
  bool said = false;
  ASSERT_TRUE(op->Until([&] {
    SayRegisteredAgain(before, said);
    return op->Show("one", "Accepted") == "False UnknownField";
  }));
  EXPECT_EQ(Only(), before);
  EXPECT_TRUE(op->IsReady("one"));
}

TEST_F(ReconcileTest, AnAgentOfWhichTheSourceHasNoValidVersionIsNotADeletedOne) {
  MakeReady();
  const std::string uid = Uid();
  Snapshot snapshot;
  snapshot.agents[{"default", "one"}].problems = {{.file = "f", .line = 1, .column = 1, .path = "", .message = "m", .reason = "InvalidSpec"}};
  op->Deliver(snapshot);
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "Accepted") == "False InvalidSpec"; }));
  EXPECT_EQ(Only().key.uid, uid);
  EXPECT_TRUE(op->IsReady("one"));
}

TEST_F(ReconcileTest, ACrashBetweenCreateAndStartHealsWithOneContainer) {
  runtime.FailNext(runtime::fake::Operation::kStart, Error{Code::kInternal, "crash"}, 100);
  Edit("  description: test\n");
  ASSERT_TRUE(op->Until([&] { return Sandboxes().size() == 1; }));
  EXPECT_EQ(Only().state, State::kCreated);
  const std::string id = Only().id;
  op.reset();
  runtime.FailNext(runtime::fake::Operation::kStart, Error{Code::kInternal, "once more"}, 100);
  Boot();
  Edit("  description: test\n");
  ASSERT_TRUE(op->Until([&] { return op->Message("one", "SandboxRunning") == "once more"; }));
  runtime.FailNext(runtime::fake::Operation::kStart, {}, 0);
  clock.Advance(seconds(600));  // past the backoff, however often it failed: any event queues the key at once
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one"); }));
  EXPECT_EQ(Only().id, id);
}

TEST_F(ReconcileTest, StraysGoAfterTheFirstSnapshotAndOtherHomesAreNotTouched) {
  MakeReady();
  runtime::SandboxSpec stray;
  stray.key = {op->home.id, "default", "gone", "00000000-unknown"};
  stray.name = "beige-stray";
  stray.image = kImage;
  stray.uid = stray.gid = 200000;
  stray.command = {"/x"};
  stray.memory_bytes = 64 << 20;
  stray.cpu_millis = 100;
  stray.pids_limit = 16;
  stray.tmp_bytes = 1 << 20;
  const auto made = runtime.Create(stray);
  ASSERT_TRUE(made) << made.error().message;
  runtime::SandboxSpec other = stray;
  other.key.home = "another-home";
  other.name = "beige-other";
  ASSERT_TRUE(runtime.Create(other));
  Restart();
  op->queue.Add(kSweepKey);
  op->Step();
  EXPECT_TRUE(*runtime.FindByName("beige-stray")) << "nothing is known to be unwanted yet";
  Edit("  description: test\n");
  ASSERT_TRUE(op->Until([&] { return !*runtime.FindByName("beige-stray"); }));
  EXPECT_TRUE(*runtime.FindByName("beige-other"));
  EXPECT_EQ(Only().key.agent, "one");
  EXPECT_NE(op->Events().find("StrayRemoved"), std::string::npos);
}

TEST_F(ReconcileTest, OneThatExitsAtOnceGoesThroughBackoffAndAFixedSpecDoesNotWait) {
  std::atomic<int> starts{0};
  std::atomic<bool> dies{true};
  on_start = [&](const std::string& id) {
    ++starts;
    if (dies) runtime.Kill(id, 1);
  };
  Edit("  description: test\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "SandboxRunning") == "False CrashLoopBackOff"; }));
  EXPECT_EQ(starts, 2) << "the first restart is at once";
  op->Step();
  EXPECT_EQ(starts, 2) << "a hot loop";
  op->AdvanceAndStep(std::chrono::milliseconds(1100));
  EXPECT_EQ(starts, 3);
  op->AdvanceAndStep(std::chrono::milliseconds(1100));
  EXPECT_EQ(starts, 3);
  op->AdvanceAndStep(std::chrono::milliseconds(1100));
  EXPECT_EQ(starts, 4);
  dies = false;
  Edit("  sandbox: {pidsLimit: 64}\n");
  EXPECT_TRUE(op->Until([&] { return op->IsReady("one"); }));
}

TEST_F(ReconcileTest, OneThatNeverRegistersIsReplacedInTime) {
  registers = false;
  Edit("  description: test\n");
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "Ready") == "False NotRegistered"; }));
  const std::string first = Only().id;
  op->AdvanceAndStep(seconds(19));
  EXPECT_EQ(Only().id, first);
  registers = true;
  clock.Advance(seconds(2));
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one"); }));
  EXPECT_NE(Only().id, first);
}

TEST_F(ReconcileTest, TwoFailedRoundTripsInARowMakeANewSandbox) {
  MakeReady();
  const std::string first = Only().id;
  gateway.Say(admin::RoundTrip{Uid(), false, 0, "connection refused"});
  ASSERT_TRUE(op->Until([&] { return op->Show("one", "Ready") == "False RoundTripFailed"; }));
  EXPECT_EQ(Only().id, first);
  gateway.Say(admin::RoundTrip{Uid(), false, 0, "connection refused"});
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one") && Only().id != first; }));
}

}  // namespace
}  // namespace beige::testing
