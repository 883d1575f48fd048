#include "operator/reconcile/plan.h"

#include <algorithm>

namespace beige {
using runtime::Observed;
using runtime::State;

namespace {
// A grant that the gateway has not answered for this long is sent again.
constexpr std::chrono::seconds kGrantAnswer{10};
// One that it refused is tried again: a full disk has room one day, a skill's folder is mended.
constexpr std::chrono::seconds kGrantRefused{30};
// A container that is not ours sends us no event when it goes or is renamed, so its name is looked at again.
constexpr std::chrono::seconds kNameLook{5};

bool NeedsPut(const PlanInput& in, SteadyTime now) {
  const GatewayFacts& g = in.gateway;
  if (!g.synced) return false;
  if (g.sent != in.grant) return true;
  if (g.rejected) return now >= g.sent_at + kGrantRefused;
  return g.pending && now >= g.sent_at + kGrantAnswer;
}

bool Registered(const PlanInput& in, const Observed& current) {
  return in.gateway.registered && in.gateway.instance == current.instance;
}

// From when on it may be held against a running sandbox that it has no control channel.
SteadyTime RegisterBy(const PlanInput& in) {
  return std::max({in.memory.running_since, in.gateway.synced_at, in.gateway.registration_changed_at}) + kRegisterWithin;
}

// Why the sandbox has to be another one; "" = it may stay.
std::string ReplaceReason(const PlanInput& in, const Observed& current, SteadyTime now) {
  if (!in.blocked && current.spec_hash != in.spec_hash) return "SpecChanged";
  if (current.id == in.memory.stopped_for_mismatch) return "";
  if (current.state == State::kDead || current.state == State::kUnknown) return "Dead";
  if (current.state != State::kRunning) return "";
  const std::string start = StartId(current);
  if (in.memory.verified == start && !in.memory.mismatches.empty() &&
      (in.memory.verified_ok == start || in.memory.our_start != start)) {
    return "SettingsChanged";
  }
  if (!in.gateway.synced || !in.gateway.in_force) return "";
  if (Registered(in, current)) return in.gateway.round_trip_failures >= kRoundTripFailures ? "RoundTripFailed" : "";
  // Somebody else's start of a container that we had started: nothing was announced, so it can't register.
  if (in.memory.our_start != start && in.memory.our_start.starts_with(current.id + "@")) return "StartedByHand";
  return now >= RegisterBy(in) ? "NotRegistered" : "";
}

std::vector<Action> PlanDeleted(const PlanInput& in) {
  std::vector<Action> actions;
  // Without a gateway there is nothing to take back: the next complete set does not name the agent.
  if (in.gateway.synced && in.gateway.sent) actions.push_back({ActionKind::kRemoveGrant, "", "Deleted"});
  if (!in.engine_up) return actions;
  for (const Observed& sandbox : in.sandboxes) actions.push_back({ActionKind::kRemove, sandbox.id, "Deleted"});
  actions.push_back({ActionKind::kDisposeWorkspace, "", "Deleted"});
  actions.push_back({ActionKind::kForget, "", "Deleted"});
  return actions;
}
}  // namespace

std::vector<Action> Plan(const PlanInput& in, SteadyTime now) {
  if (!in.present) return PlanDeleted(in);
  std::vector<Action> actions;
  const bool put = NeedsPut(in, now);
  if (put) actions.push_back({ActionKind::kPutGrant, "", ""});
  if (!in.engine_up) return actions;

  const Observed* current = ChooseSandbox(in.sandboxes, in.spec_hash);
  for (const Observed& sandbox : in.sandboxes) {
    if (&sandbox != current) actions.push_back({ActionKind::kRemove, sandbox.id, "Duplicate"});
  }
  if (in.suspended) {
    if (current) actions.push_back({ActionKind::kRemove, current->id, "Suspended"});
    return actions;
  }

  // A start needs the gateway: it makes what is mounted, and it must hear of the start before it happens.
  const bool gateway_ready = in.gateway.synced && (put || in.gateway.in_force);
  const bool may_start = gateway_ready && now >= in.memory.restart.allowed_at;
  const auto start = [&](const std::string& id, const std::string& reason) {
    actions.push_back({ActionKind::kAnnounce, id, reason});
    actions.push_back({ActionKind::kStart, id, reason});
    actions.push_back({ActionKind::kVerify, id, reason});
  };
  const auto make = [&](const std::string& reason) {
    if (in.blocked || in.name_taken) return;
    actions.push_back({ActionKind::kEnsureImage, "", reason});  // first: a missing image must not cost the running sandbox
    actions.push_back({ActionKind::kPrepare, "", reason});
    if (current) actions.push_back({ActionKind::kRemove, current->id, reason});
    actions.push_back({ActionKind::kCreate, "", reason});
    start("", reason);
  };

  if (!in.disk_pressure.empty()) {
    if (current && current->state == State::kRunning) actions.push_back({ActionKind::kStop, current->id, "DiskPressure"});
    return actions;
  }
  if (!current) {
    if (may_start) make(in.memory.restart.total > 0 && in.memory.exit_reason == "Removed" ? "Removed" : "New");
    return actions;
  }
  if (const std::string reason = ReplaceReason(in, *current, now); !reason.empty()) {
    if (reason == "SpecChanged" ? gateway_ready : may_start) make(reason);
    return actions;
  }
  switch (current->state) {
    case State::kPaused:
      actions.push_back({ActionKind::kUnpause, current->id, "Paused"});
      return actions;
    case State::kCreated:
    case State::kExited:
      if (!may_start || current->id == in.memory.stopped_for_mismatch) return actions;
      actions.push_back({ActionKind::kPrepare, "", "Exited"});
      start(current->id, current->state == State::kCreated ? "New" : in.memory.exit_reason.empty() ? "Exited" : in.memory.exit_reason);
      return actions;
    case State::kRunning: break;
    default: return actions;
  }
  if (current->name != in.name && !in.name_taken) actions.push_back({ActionKind::kRename, current->id, "Renamed"});
  if (in.memory.verified != StartId(*current)) {
    actions.push_back({ActionKind::kVerify, current->id, ""});
  } else if (!in.memory.mismatches.empty()) {
    actions.push_back({ActionKind::kStop, current->id, "IsolationMismatch"});
    return actions;
  }
  if (in.gateway.synced && in.gateway.in_force && Registered(in, *current) && !in.gateway.round_trip && !in.gateway.probe_sent) {
    actions.push_back({ActionKind::kProbe, "", ""});
  }
  return actions;
}

std::optional<SteadyTime> NextLook(const PlanInput& in, SteadyTime now) {
  std::optional<SteadyTime> next;
  const auto at = [&](SteadyTime time) {
    if (time > now) next = next ? std::min(*next, time) : time;
  };
  if (!in.present) return next;
  if (in.gateway.synced && in.gateway.pending) at(in.gateway.sent_at + kGrantAnswer);
  if (in.gateway.synced && in.gateway.rejected) at(in.gateway.sent_at + kGrantRefused);
  if (!in.engine_up || in.suspended) return next;
  at(in.memory.restart.allowed_at);
  if (in.name_taken) at(now + kNameLook);
  const Observed* current = ChooseSandbox(in.sandboxes, in.spec_hash);
  if (current && current->state == State::kRunning && in.gateway.synced && !Registered(in, *current)) at(RegisterBy(in));
  return next;
}

const char* ActionName(ActionKind kind) {
  switch (kind) {
    case ActionKind::kPutGrant: return "grant";
    case ActionKind::kRemoveGrant: return "remove grant";
    case ActionKind::kEnsureImage: return "image";
    case ActionKind::kPrepare: return "prepare directories";
    case ActionKind::kCreate: return "create sandbox";
    case ActionKind::kAnnounce: return "announce start";
    case ActionKind::kStart: return "start sandbox";
    case ActionKind::kVerify: return "verify sandbox";
    case ActionKind::kUnpause: return "unpause sandbox";
    case ActionKind::kRename: return "rename sandbox";
    case ActionKind::kStop: return "stop sandbox";
    case ActionKind::kRemove: return "remove sandbox";
    case ActionKind::kProbe: return "probe";
    case ActionKind::kDisposeWorkspace: return "dispose of workspace";
    case ActionKind::kForget: return "forget identity";
  }
  return "?";
}

}  // namespace beige
