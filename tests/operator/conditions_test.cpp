#include "operator/reconcile/conditions.h"

#include <gtest/gtest.h>

#include <functional>

namespace beige {
namespace {
using runtime::Observed;
using runtime::State;
using std::chrono::seconds;
const SteadyTime kNow{std::chrono::hours(10)};
const std::string kThen = "2026-11-29T12:00:00.000Z";
const std::string kLater = "2026-11-29T12:00:05.000Z";

ConditionInput ReadyAgent() {
  ConditionInput in;
  Observed sandbox;
  sandbox.id = "c1";
  sandbox.instance = "i1";
  sandbox.spec_hash = "h1";
  sandbox.template_version = kTemplate;
  sandbox.state = State::kRunning;
  sandbox.started_at = "t1";
  in.plan.name = "beige-x";
  in.plan.spec_hash = "h1";
  in.plan.engine_up = true;
  in.plan.sandboxes = {sandbox};
  in.plan.gateway.synced = true;
  in.plan.gateway.in_force = admin::InForce{.uid = "u", .generation = 3, .tools = {}, .unknown_tools = {}, .unknown_skills = {}, .unavailable_tools = {}, .unavailable_skills = {}, .unknown_models = {}};
  in.plan.gateway.registered = true;
  in.plan.gateway.instance = "i1";
  in.plan.gateway.round_trip = true;
  in.plan.memory.verified = in.plan.memory.verified_ok = "c1@t1";
  in.generation = 3;
  return in;
}

std::string Show(const std::vector<Condition>& conditions, const std::string& type) {
  const Condition* c = FindCondition(conditions, type);
  if (!c) return "absent";
  return std::string(c->status == Truth::kTrue ? "True" : c->status == Truth::kFalse ? "False" : "Unknown") + " " + c->reason;
}

std::vector<Condition> Compute(const ConditionInput& in, const std::vector<Condition>& previous = {}) {
  return ComputeConditions(in, previous, kNow, kLater);
}

TEST(ConditionsTest, AReadyAgentHasAllOfThem) {
  const auto all = Compute(ReadyAgent());
  ASSERT_EQ(all.size(), std::size(kConditionTypes));
  for (const char* type : {"Accepted", "ImageReady", "SandboxRunning", "ControlConnected", "PolicyInForce", "IsolationVerified", "EgressEnforced", "UpToDate"}) {
    EXPECT_EQ(Show(all, type).substr(0, 4), "True") << type;
  }
  EXPECT_EQ(Show(all, "Suspended"), "False Running");
  EXPECT_EQ(Show(all, "Ready"), "True RoundTripOK");
  for (const Condition& c : all) {
    EXPECT_EQ(c.observed_generation, 3);
    EXPECT_EQ(c.last_transition_time, kLater);
    EXPECT_FALSE(c.reason.empty()) << c.type;
  }
}

TEST(ConditionsTest, AllTypesArePresentOfAnAgentThatWasNeverValid) {
  ConditionInput in;
  in.has_spec = false;
  in.problems = {{.file = "a.yaml", .line = 4, .column = 3, .path = "spec.descriptoin", .message = "unknown field", .reason = "UnknownField"}};
  const auto all = Compute(in);
  ASSERT_EQ(all.size(), std::size(kConditionTypes));
  EXPECT_EQ(Show(all, "Accepted"), "False UnknownField");
  EXPECT_NE(FindCondition(all, "Accepted")->message.find("a.yaml"), std::string::npos);
  EXPECT_EQ(Show(all, "SandboxRunning"), "Unknown Unknown");
  EXPECT_EQ(Show(all, "Ready"), "False UnknownField");
}

TEST(ConditionsTest, TheTransitionTimeMovesOnlyWithTheStatus) {
  auto before = ComputeConditions(ReadyAgent(), {}, kNow, kThen);
  ConditionInput in = ReadyAgent();
  in.generation = 4;
  in.plan.gateway.in_force->generation = 4;
  in.plan.gateway.in_force->unknown_tools = {"nope"};
  auto after = Compute(in, before);
  EXPECT_EQ(Show(after, "PolicyInForce"), "True ToolUnknown");
  EXPECT_EQ(FindCondition(after, "PolicyInForce")->last_transition_time, kThen);
  EXPECT_EQ(FindCondition(after, "PolicyInForce")->observed_generation, 4);
  EXPECT_NE(FindCondition(after, "PolicyInForce")->message.find("nope"), std::string::npos);
  in.plan.gateway.round_trip = false;
  after = Compute(in, before);
  EXPECT_EQ(FindCondition(after, "Ready")->last_transition_time, kLater);
}

TEST(ConditionsTest, AModelThatIsNotConfiguredIsSaidLikeATool) {
  ConditionInput in = ReadyAgent();
  in.plan.gateway.in_force->unknown_models = {"nobody/knows"};
  auto conditions = Compute(in);
  EXPECT_EQ(Show(conditions, "PolicyInForce"), "True ModelUnknown");
  EXPECT_EQ(FindCondition(conditions, "PolicyInForce")->message, "model nobody/knows is not configured in gateway.yaml");
  EXPECT_EQ(Show(conditions, "Ready"), "True RoundTripOK") << "the rest works";
  in.plan.gateway.in_force->unknown_tools = {"nope"};
  conditions = Compute(in);
  EXPECT_EQ(Show(conditions, "PolicyInForce"), "True ToolUnknown");
  EXPECT_NE(FindCondition(conditions, "PolicyInForce")->message.find("nobody/knows"), std::string::npos);
}

TEST(ConditionsTest, TheSameFactsGiveTheSameConditions) {
  const auto before = ComputeConditions(ReadyAgent(), {}, kNow, kThen);
  EXPECT_EQ(Compute(ReadyAgent(), before), before);
}

TEST(ConditionsTest, EachFactShowsWhereAPersonLooks) {
  struct Row {
    const char* what;
    std::function<void(ConditionInput&)> change;
    const char* type;
    const char* want;
    const char* ready;
  };
  const Row rows[] = {
      {"invalid new version", [](ConditionInput& in) { in.problems = {{.file = "f", .line = 1, .column = 1, .path = "", .message = "m", .reason = "InvalidSpec"}}; },
       "Accepted", "False InvalidSpec", "True RoundTripOK"},
      {"not permitted, old one runs", [](ConditionInput& in) { in.not_permitted = {"volume"}; in.plan.blocked = true; in.plan.spec_hash = "h2"; },
       "Accepted", "False NotPermitted", "True RoundTripOK"},
      {"not permitted, none runs", [](ConditionInput& in) { in.not_permitted = {"volume"}; in.plan.blocked = true; in.plan.sandboxes.clear(); },
       "Accepted", "False NotPermitted", "False NotPermitted"},
      {"engine away", [](ConditionInput& in) { in.plan.engine_up = false; in.plan.sandboxes.clear(); },
       "SandboxRunning", "Unknown EngineUnavailable", "False EngineUnavailable"},
      {"engine away: nothing is known of the control channel's sandbox", [](ConditionInput& in) { in.plan.engine_up = false; in.plan.sandboxes.clear(); },
       "ControlConnected", "Unknown EngineUnavailable", "False EngineUnavailable"},
      {"gateway away", [](ConditionInput& in) { in.plan.gateway = {}; }, "PolicyInForce", "Unknown GatewayUnavailable", "False GatewayUnavailable"},
      {"grant refused", [](ConditionInput& in) { in.plan.gateway.rejected = admin::Rejected{"u", 3, "no"}; },
       "PolicyInForce", "False GrantRejected", "True RoundTripOK"},
      {"older grant in force", [](ConditionInput& in) { in.generation = 4; }, "PolicyInForce", "Unknown Pending", "True RoundTripOK"},
      {"not registered", [](ConditionInput& in) { in.plan.gateway.registered = false; }, "ControlConnected", "False NotRegistered", "False NotRegistered"},
      {"another instance registered", [](ConditionInput& in) { in.plan.gateway.instance = "i0"; }, "ControlConnected", "False NotRegistered", "False NotRegistered"},
      {"no round trip yet", [](ConditionInput& in) { in.plan.gateway.round_trip.reset(); }, "ControlConnected", "True Registered", "False WaitingForRoundTrip"},
      {"round trip failed", [](ConditionInput& in) { in.plan.gateway.round_trip = false; }, "ControlConnected", "True Registered", "False RoundTripFailed"},
      {"not verified yet", [](ConditionInput& in) { in.plan.memory.verified.clear(); }, "IsolationVerified", "Unknown NotVerified", "False NotVerified"},
      {"not isolated as asked", [](ConditionInput& in) { in.plan.memory.mismatches = {{"user", "1", "0"}}; in.plan.memory.stopped_for_mismatch = "c1"; in.plan.sandboxes[0].state = State::kExited; },
       "IsolationVerified", "False IsolationMismatch", "False IsolationMismatch"},
      {"open egress", [](ConditionInput& in) { in.egress = EgressMode::kOpen; }, "EgressEnforced", "False EgressOpen", "True RoundTripOK"},
      {"older template", [](ConditionInput& in) { in.plan.sandboxes[0].template_version = 0; }, "UpToDate", "False TemplateOutdated", "True RoundTripOK"},
      {"name taken", [](ConditionInput& in) { in.plan.sandboxes.clear(); in.plan.name_taken = true; }, "SandboxRunning", "False NameConflict", "False NameConflict"},
      {"image missing", [](ConditionInput& in) { in.plan.sandboxes.clear(); in.image = {ImageState::Kind::kFailed, {}, "ImageMissing", "no", {}}; },
       "ImageReady", "False ImageMissing", "False ImageMissing"},
      {"image on its way", [](ConditionInput& in) { in.plan.sandboxes.clear(); in.image = {ImageState::Kind::kBusy, {}, "ImagePulling", "50%", {}}; },
       "ImageReady", "False ImagePulling", "False ImagePulling"},
      {"a new image fails while the old one runs", [](ConditionInput& in) { in.image = {ImageState::Kind::kFailed, {}, "ImagePullFailed", "no", {}}; },
       "ImageReady", "False ImagePullFailed", "False ImagePullFailed"},
      {"crash loop", [](ConditionInput& in) { in.plan.sandboxes[0].state = State::kExited; in.plan.memory.exit_reason = "Error"; in.plan.memory.restart.allowed_at = kNow + seconds(4); },
       "SandboxRunning", "False CrashLoopBackOff", "False CrashLoopBackOff"},
      {"out of memory", [](ConditionInput& in) { in.plan.sandboxes[0].state = State::kExited; in.plan.memory.exit_reason = "OOMKilled"; in.plan.memory.restart.allowed_at = kNow + seconds(4); },
       "SandboxRunning", "False OOMKilled", "False OOMKilled"},
      {"create failed", [](ConditionInput& in) { in.plan.sandboxes.clear(); in.failed = Action{ActionKind::kCreate, "", ""}; in.error = Error{Code::kInvalid, "bad"}; },
       "SandboxRunning", "False CreateFailed", "False CreateFailed"},
      {"suspended", [](ConditionInput& in) { in.plan.sandboxes.clear(); in.plan.suspended = true; }, "Suspended", "True Suspended", "False Suspended"},
      {"copied home", [](ConditionInput& in) { in.halted = "a copy"; in.plan.engine_up = false; in.plan.sandboxes.clear(); },
       "SandboxRunning", "Unknown HomeCopied", "False HomeCopied"},
  };
  for (const Row& row : rows) {
    ConditionInput in = ReadyAgent();
    row.change(in);
    const auto all = Compute(in);
    EXPECT_EQ(Show(all, row.type), row.want) << row.what;
    EXPECT_EQ(Show(all, "Ready"), row.ready) << row.what;
  }
}

}  // namespace
}  // namespace beige
