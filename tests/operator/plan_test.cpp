#include "operator/reconcile/plan.h"

#include <gtest/gtest.h>

#include <functional>

namespace beige {
namespace {
using runtime::Observed;
using runtime::State;
using std::chrono::seconds;

const SteadyTime kNow{std::chrono::hours(10)};

Observed Sandbox(State state = State::kRunning) {
  Observed sandbox;
  sandbox.id = "c1";
  sandbox.name = "beige-x";
  sandbox.key = {"home", "default", "one", "uid"};
  sandbox.instance = "i1";
  sandbox.spec_hash = "h1";
  sandbox.template_version = kTemplate;
  sandbox.state = state;
  sandbox.started_at = "t1";
  return sandbox;
}

// An agent that is all it should be.
PlanInput Settled() {
  PlanInput in;
  in.name = "beige-x";
  in.spec_hash = "h1";
  in.grant.agent = {"default", "one", "uid"};
  in.grant.generation = 3;
  in.engine_up = true;
  in.sandboxes = {Sandbox()};
  in.gateway.synced = true;
  in.gateway.synced_at = kNow - seconds(100);
  in.gateway.sent = in.grant;
  in.gateway.in_force = admin::InForce{.uid = "uid", .generation = 3, .tools = {}, .unknown_tools = {}, .unknown_skills = {}, .unavailable_tools = {}, .unavailable_skills = {}, .unknown_models = {}};
  in.gateway.registered = true;
  in.gateway.instance = "i1";
  in.gateway.round_trip = true;
  in.memory.had_sandbox = true;
  in.memory.running_start = in.memory.verified = in.memory.verified_ok = "c1@t1";
  in.memory.running_since = kNow - seconds(100);
  return in;
}

std::string Text(const std::vector<Action>& actions) {
  std::string text;
  for (const Action& action : actions) {
    text += (text.empty() ? "" : ", ") + std::string(ActionName(action.kind));
    if (!action.id.empty()) text += " " + action.id;
    if (!action.reason.empty()) text += " (" + action.reason + ")";
  }
  return text;
}

std::string PlanText(const PlanInput& in) { return Text(Plan(in, kNow)); }

std::string Make(const std::string& reason, const std::string& remove = "") {
  const std::string r = " (" + reason + ")";
  return "image" + r + ", prepare directories" + r + (remove.empty() ? "" : ", remove sandbox " + remove + r) + ", create sandbox" + r +
         ", announce start" + r + ", start sandbox" + r + ", verify sandbox" + r;
}

TEST(PlanTest, ASettledAgentNeedsNothing) { EXPECT_EQ(PlanText(Settled()), ""); }

TEST(PlanTest, ANewAgentIsGrantedFirstThenMadeAnnouncedStartedAndVerified) {
  PlanInput in = Settled();
  in.sandboxes.clear();
  in.memory = {};
  in.gateway.sent.reset();
  in.gateway.in_force.reset();
  in.gateway.registered = false;
  in.gateway.round_trip.reset();
  EXPECT_EQ(PlanText(in), "grant, " + Make("New"));
}

TEST(PlanTest, NothingIsStartedWithoutTheGateway) {
  PlanInput in = Settled();
  in.gateway = {};
  EXPECT_EQ(PlanText(in), "") << "what runs is left alone";
  in.sandboxes.clear();
  EXPECT_EQ(PlanText(in), "");
  in.sandboxes = {Sandbox(State::kExited)};
  EXPECT_EQ(PlanText(in), "");
}

TEST(PlanTest, NothingIsStartedBeforeTheGrantIsInForce) {
  PlanInput in = Settled();
  in.sandboxes.clear();
  in.gateway.in_force.reset();
  in.gateway.pending = true;
  in.gateway.sent_at = kNow - seconds(1);
  EXPECT_EQ(PlanText(in), "");
  in.gateway.sent_at = kNow - seconds(10);
  EXPECT_EQ(PlanText(in), "grant, " + Make("New")) << "an unanswered grant is sent again";
}

TEST(PlanTest, WithTheEngineAwayOnlyTheGrantIsSeenTo) {
  PlanInput in = Settled();
  in.engine_up = false;
  in.sandboxes.clear();
  EXPECT_EQ(PlanText(in), "");
  in.grant.tools = {"kv"};
  EXPECT_EQ(PlanText(in), "grant");
}

TEST(PlanTest, AChangeThatDoesNotShapeTheContainerIsAGrantOnly) {
  PlanInput in = Settled();
  in.grant.generation = 4;
  in.grant.tools = {"kv"};
  EXPECT_EQ(PlanText(in), "grant");
}

TEST(PlanTest, ARefusedGrantIsSentAgainAfterAWhile) {
  PlanInput in = Settled();
  in.gateway.rejected = admin::Rejected{"uid", 3, "no"};
  in.gateway.sent_at = kNow - seconds(29);
  EXPECT_EQ(PlanText(in), "");
  EXPECT_EQ(NextLook(in, kNow), kNow + seconds(1));
  in.gateway.sent_at = kNow - seconds(30);
  EXPECT_EQ(PlanText(in), "grant");
}

TEST(PlanTest, RecreatesTheSandboxWhenTheSpecHashDiffersAndLooksForTheImageFirst) {
  PlanInput in = Settled();
  in.spec_hash = "h2";
  EXPECT_EQ(PlanText(in), Make("SpecChanged", "c1"));
  in.memory.restart.allowed_at = kNow + seconds(100);
  EXPECT_EQ(PlanText(in), Make("SpecChanged", "c1")) << "a person's change does not wait for the backoff of crashes";
  in.blocked = true;
  EXPECT_EQ(PlanText(in), "") << "what is not permitted leaves the old one running";
}

TEST(PlanTest, AnOlderTemplateIsNotReplaced) {
  PlanInput in = Settled();
  in.sandboxes[0].template_version = kTemplate - 1;
  EXPECT_EQ(PlanText(in), "");
}

TEST(PlanTest, DriftIsMended) {
  struct Row {
    const char* what;
    std::function<void(PlanInput&)> change;
    std::string want;
  };
  const Row rows[] = {
      {"removed", [](PlanInput& in) { in.sandboxes.clear(); in.memory.exit_reason = "Removed"; in.memory.restart.total = 1; }, Make("Removed")},
      {"killed", [](PlanInput& in) { in.sandboxes[0].state = State::kExited; in.memory.exit_reason = "Error"; },
       "prepare directories (Exited), announce start c1 (Error), start sandbox c1 (Error), verify sandbox c1 (Error)"},
      {"never started", [](PlanInput& in) { in.sandboxes[0].state = State::kCreated; },
       "prepare directories (Exited), announce start c1 (New), start sandbox c1 (New), verify sandbox c1 (New)"},
      {"paused", [](PlanInput& in) { in.sandboxes[0].state = State::kPaused; }, "unpause sandbox c1 (Paused)"},
      {"renamed", [](PlanInput& in) { in.sandboxes[0].name = "else"; }, "rename sandbox c1 (Renamed)"},
      {"renamed, and the name is taken", [](PlanInput& in) { in.sandboxes[0].name = "else"; in.name_taken = true; }, ""},
      {"dead", [](PlanInput& in) { in.sandboxes[0].state = State::kDead; }, Make("Dead", "c1")},
      {"settings changed by hand", [](PlanInput& in) { in.memory.mismatches = {{"memory", "1", "2"}}; }, Make("SettingsChanged", "c1")},
      {"restarted by somebody else, so that nothing was announced",
       [](PlanInput& in) { in.sandboxes[0].started_at = "t2"; in.memory.our_start = "c1@t1"; in.gateway.registered = false; }, Make("StartedByHand", "c1")},
      {"started by somebody else", [](PlanInput& in) { in.sandboxes[0].started_at = "t2"; }, "verify sandbox c1"},
      {"name taken by a stranger", [](PlanInput& in) { in.sandboxes.clear(); in.name_taken = true; }, ""},
      {"gone, and its return is not permitted", [](PlanInput& in) { in.sandboxes.clear(); in.blocked = true; }, ""},
  };
  for (const Row& row : rows) {
    PlanInput in = Settled();
    row.change(in);
    EXPECT_EQ(PlanText(in), row.want) << row.what;
  }
}

TEST(PlanTest, AFreshStartThatIsNotIsolatedAsAskedIsStoppedAndStaysSo) {
  PlanInput in = Settled();
  in.memory.our_start = "c1@t1";
  in.memory.verified_ok.clear();
  in.memory.mismatches = {{"user", "200000", "0"}};
  EXPECT_EQ(PlanText(in), "stop sandbox c1 (IsolationMismatch)");
  in.sandboxes[0].state = State::kExited;
  in.memory.stopped_for_mismatch = "c1";
  EXPECT_EQ(PlanText(in), "");
  in.spec_hash = "h2";
  EXPECT_EQ(PlanText(in), Make("SpecChanged", "c1"));
}

TEST(PlanTest, AStartAfterAnExitWaitsForItsBackoff) {
  PlanInput in = Settled();
  in.sandboxes[0].state = State::kExited;
  in.memory.restart.allowed_at = kNow + seconds(8);
  EXPECT_EQ(PlanText(in), "");
  EXPECT_EQ(NextLook(in, kNow), kNow + seconds(8));
}

TEST(PlanTest, ASandboxThatDoesNotRegisterInTimeIsReplaced) {
  PlanInput in = Settled();
  in.gateway.registered = false;
  in.gateway.round_trip.reset();
  in.memory.running_since = kNow - seconds(19);
  EXPECT_EQ(PlanText(in), "");
  EXPECT_EQ(NextLook(in, kNow), kNow + seconds(1));
  in.memory.running_since = kNow - seconds(20);
  EXPECT_EQ(PlanText(in), Make("NotRegistered", "c1"));
  in.gateway.synced_at = kNow - seconds(5);
  EXPECT_EQ(PlanText(in), "") << "a gateway that has just come back is given time to hear of it";
  in.gateway.synced_at = kNow - seconds(100);
  in.gateway.registered = true;
  in.gateway.instance = "another";
  EXPECT_EQ(PlanText(in), Make("NotRegistered", "c1"));
}

TEST(PlanTest, ATakenNameIsLookedAtAgainSinceAForeignContainerSendsUsNoEvent) {
  PlanInput in = Settled();
  in.sandboxes.clear();
  in.name_taken = true;
  ASSERT_TRUE(NextLook(in, kNow));
  EXPECT_LE(*NextLook(in, kNow), kNow + seconds(10));
}

TEST(PlanTest, TwoFailedRoundTripsMakeANewSandbox) {
  PlanInput in = Settled();
  in.gateway.round_trip = false;
  in.gateway.round_trip_failures = 1;
  EXPECT_EQ(PlanText(in), "");
  in.gateway.round_trip_failures = 2;
  EXPECT_EQ(PlanText(in), Make("RoundTripFailed", "c1"));
}

TEST(PlanTest, ARoundTripIsAskedForOncePerRegistration) {
  PlanInput in = Settled();
  in.gateway.round_trip.reset();
  EXPECT_EQ(PlanText(in), "probe");
  in.gateway.probe_sent = true;
  EXPECT_EQ(PlanText(in), "");
}

TEST(PlanTest, OfTwoSandboxesTheOneAskedForStaysAndTheOtherGoes) {
  PlanInput in = Settled();
  Observed old = Sandbox();
  old.id = "c0";
  old.spec_hash = "h0";
  in.sandboxes = {old, Sandbox()};
  EXPECT_EQ(PlanText(in), "remove sandbox c0 (Duplicate)");
}

TEST(PlanTest, ASuspendedAgentHasNoSandbox) {
  PlanInput in = Settled();
  in.suspended = true;
  EXPECT_EQ(PlanText(in), "remove sandbox c1 (Suspended)");
  in.sandboxes.clear();
  EXPECT_EQ(PlanText(in), "");
}

TEST(PlanTest, ADeletedAgentLosesItsGrantThenItsSandboxThenItsIdentity) {
  PlanInput in = Settled();
  in.present = false;
  EXPECT_EQ(PlanText(in), "remove grant (Deleted), remove sandbox c1 (Deleted), dispose of workspace (Deleted), forget identity (Deleted)");
  in.gateway = {};
  EXPECT_EQ(PlanText(in), "remove sandbox c1 (Deleted), dispose of workspace (Deleted), forget identity (Deleted)");
  in.engine_up = false;
  EXPECT_EQ(PlanText(in), "") << "the identity stays until its container is known gone";
}

TEST(RestartTest, TheFirstRestartIsAtOnceThenTheDelayDoublesToFiveMinutes) {
  RestartState state;
  std::vector<int64_t> delays;
  for (int i = 0; i < 12; ++i) {
    state = AfterExit(state, seconds(1), kNow);
    delays.push_back(std::chrono::duration_cast<seconds>(state.allowed_at - kNow).count());
  }
  EXPECT_EQ(delays, (std::vector<int64_t>{0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}));
  EXPECT_EQ(state.total, 12);
  state = AfterExit(state, RestartState::kStable, kNow);
  EXPECT_EQ(state.allowed_at, kNow) << "one that ran for long was healthy";
  EXPECT_EQ(state.total, 13);
}

}  // namespace
}  // namespace beige
