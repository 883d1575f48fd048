#include "operator/reconcile/conditions.h"

#include <map>
#include <utility>

#include "base/clock.h"

namespace beige {
using runtime::Observed;
using runtime::State;

namespace {
struct Verdict {
  Truth status = Truth::kUnknown;
  std::string reason;
  std::string message;
};
Verdict Yes(std::string reason, std::string message = "") { return {Truth::kTrue, std::move(reason), std::move(message)}; }
Verdict No(std::string reason, std::string message = "") { return {Truth::kFalse, std::move(reason), std::move(message)}; }
Verdict Maybe(std::string reason, std::string message = "") { return {Truth::kUnknown, std::move(reason), std::move(message)}; }

std::string JoinTexts(const std::vector<std::string>& texts, const char* separator) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : separator) + text;
  return all;
}

// Why nothing is known of the container.
std::string NoEngine(const ConditionInput& in) { return in.halted.empty() ? "EngineUnavailable" : "HomeCopied"; }

bool FailedAt(const ConditionInput& in, ActionKind kind) { return in.failed && in.error && in.failed->kind == kind; }

Verdict Accepted(const ConditionInput& in) {
  if (!in.problems.empty()) {
    const std::string kept = in.has_spec ? "; generation " + std::to_string(in.generation) + " stays in force" : "";
    return No(in.problems.front().reason, Join(in.problems, "; ") + kept);
  }
  if (in.identity_error) return No("NotPermitted", in.identity_error->message);
  if (!in.not_permitted.empty()) return No("NotPermitted", JoinTexts(in.not_permitted, "; "));
  return Yes("Accepted", in.conflicts.empty() ? "" : Join(in.conflicts, "; "));
}

Verdict ImageReady(const ConditionInput& in, const Observed* current) {
  switch (in.image.kind) {
    case ImageState::Kind::kReady: return Yes("ImagePresent");
    case ImageState::Kind::kBusy: return No(in.image.reason, in.image.message);
    case ImageState::Kind::kFailed: return No(in.image.reason, in.image.message);
    case ImageState::Kind::kUnknown: break;
  }
  if (current) return Yes("ImagePresent");
  return Maybe(in.plan.suspended ? "Suspended" : "NotChecked");
}

Verdict SandboxRunning(const ConditionInput& in, const Observed* current, SteadyTime now) {
  const PlanInput& p = in.plan;
  if (!in.halted.empty()) return Maybe("HomeCopied", in.halted);
  if (!p.engine_up) return Maybe("EngineUnavailable", in.engine_message);
  if (p.suspended) return No("Suspended", "spec.operatingMode is Suspended; the workspace is kept");
  if (p.name_taken) {
    return No("NameConflict", "a container that is not ours has the name " + p.name + "; remove or rename it");
  }
  if (!p.disk_pressure.empty() && !(current && current->state == State::kRunning)) return No("DiskPressure", p.disk_pressure);
  if (in.error && (in.error->code == Code::kUnavailable || in.error->code == Code::kTimeout) && in.failed &&
      in.failed->kind != ActionKind::kPutGrant && in.failed->kind != ActionKind::kAnnounce && in.failed->kind != ActionKind::kRemoveGrant) {
    return Maybe("EngineUnavailable", in.error->message);
  }
  if (FailedAt(in, ActionKind::kPrepare)) return No("PrepareFailed", in.error->message);
  if (FailedAt(in, ActionKind::kCreate)) return No("CreateFailed", in.error->message);
  if (FailedAt(in, ActionKind::kStart)) return No("StartFailed", in.error->message);
  if (current && current->state == State::kRunning) return Yes("Running");
  if (current && current->state == State::kPaused) return No("Paused", "somebody paused the container; it is being unpaused");
  if (current && current->id == p.memory.stopped_for_mismatch) {
    return No("IsolationMismatch", "stopped, since the container is not isolated as asked; see IsolationVerified");
  }
  if (!p.memory.exit_reason.empty() && now < p.memory.restart.allowed_at) {
    // Without the seconds left: they would rewrite the status all the time.
    const std::string message = p.memory.exit_message + "; ended " + std::to_string(p.memory.restart.in_a_row) +
                                " times in a row, started again within " + FormatDuration(RestartState::kLongest);
    return No(p.memory.exit_reason == "OOMKilled" ? "OOMKilled" : "CrashLoopBackOff", message);
  }
  if (!p.gateway.synced) return No("WaitingForGateway", p.gateway.absent_message);
  if (in.image.kind == ImageState::Kind::kFailed || in.image.kind == ImageState::Kind::kBusy) return No("WaitingForImage", in.image.message);
  if (!p.memory.exit_reason.empty()) return No(p.memory.exit_reason, p.memory.exit_message);
  if (in.error) return No("Failed", in.error->message);
  return No("Creating");
}

Verdict ControlConnected(const ConditionInput& in, const Observed* current) {
  const GatewayFacts& g = in.plan.gateway;
  if (!g.synced) return Maybe("GatewayUnavailable", g.absent_message);
  if (!in.plan.engine_up) return Maybe(NoEngine(in));
  if (!current) return No("NoSandbox");
  if (g.registered && g.instance == current->instance) return Yes("Registered");
  return No("NotRegistered", "PID 1 of the sandbox does not hold its control channel");
}

Verdict PolicyInForce(const ConditionInput& in) {
  const GatewayFacts& g = in.plan.gateway;
  if (!g.synced) return Maybe("GatewayUnavailable", g.absent_message);
  if (g.rejected) return No("GrantRejected", g.rejected->message + (g.in_force ? "; of the former grant, what this one allows as well stays in force" : ""));
  if (!g.in_force) return FailedAt(in, ActionKind::kPutGrant) ? No("GrantFailed", in.error->message) : Maybe("Pending");
  if (g.pending || g.in_force->generation < in.generation) {
    return Maybe("Pending", "generation " + std::to_string(g.in_force->generation) + " is in force");
  }
  std::vector<std::string> unknown;
  for (const std::string& tool : g.in_force->unknown_tools) unknown.push_back("tool " + tool + " is not configured in gateway.yaml");
  for (const std::string& skill : g.in_force->unknown_skills) unknown.push_back("skill " + skill + " is not configured in gateway.yaml");
  for (const std::string& model : g.in_force->unknown_models) unknown.push_back("model " + model + " is not configured in gateway.yaml");
  for (const auto& [tool, why] : g.in_force->unavailable_tools) unknown.push_back("tool " + tool + " is not offered: " + why);
  for (const auto& [skill, why] : g.in_force->unavailable_skills) unknown.push_back("skill " + skill + " is not shown: " + why);
  if (unknown.empty()) return Yes("InForce");
  const bool configured = g.in_force->unknown_tools.empty() && g.in_force->unknown_skills.empty();
  if (configured && !g.in_force->unknown_models.empty()) return Yes("ModelUnknown", JoinTexts(unknown, "; "));
  const char* unavailable = g.in_force->unavailable_tools.empty() ? "SkillUnavailable" : "ToolUnavailable";
  return Yes(configured ? unavailable : "ToolUnknown", JoinTexts(unknown, "; "));
}

Verdict IsolationVerified(const ConditionInput& in, const Observed* current) {
  const SandboxMemory& m = in.plan.memory;
  if (!in.plan.engine_up) return Maybe(NoEngine(in));
  if (!current) return Maybe("NoSandbox");
  const bool about_this = m.verified == StartId(*current) || m.stopped_for_mismatch == current->id;
  if (!about_this) return Maybe("NotVerified", FailedAt(in, ActionKind::kVerify) ? in.error->message : "");
  if (m.mismatches.empty()) return Yes("Verified");
  std::vector<std::string> texts;
  for (const runtime::Mismatch& x : m.mismatches) texts.push_back(x.field + ": want " + x.want + ", have " + x.have);
  return No("IsolationMismatch", JoinTexts(texts, "; "));
}

Verdict EgressEnforced(const ConditionInput& in, const Observed* current) {
  if (!in.plan.engine_up) return Maybe(NoEngine(in));
  if (!current || current->state != State::kRunning) return Maybe("NoSandbox");
  if (in.egress == EgressMode::kNone) return Yes("NoNetwork");
  return No("EgressOpen", "spec.egress.mode is open: the engine's bridge, neither limited nor audited");
}

Verdict UpToDate(const ConditionInput& in, const Observed* current) {
  if (!in.plan.engine_up) return Maybe(NoEngine(in));
  if (!current) return Maybe("NoSandbox");
  if (current->spec_hash != in.plan.spec_hash) return No("SpecChanged", "the sandbox was made from an earlier version of the spec");
  if (current->template_version != kTemplate) {
    return No("TemplateOutdated", "made by template " + std::to_string(current->template_version) + ", now " + std::to_string(kTemplate));
  }
  return Yes("UpToDate");
}

Verdict Ready(const ConditionInput& in, const std::map<std::string, Verdict>& all) {
  const GatewayFacts& g = in.plan.gateway;
  if (!in.has_spec) return No(all.at("Accepted").reason, all.at("Accepted").message);
  if (!in.halted.empty()) return No("HomeCopied", in.halted);
  if (in.plan.suspended) return No("Suspended");
  const Verdict& accepted = all.at("Accepted");
  const Verdict& running = all.at("SandboxRunning");
  // What was never made for want of permission or of an image says that, not its consequences.
  if (running.status == Truth::kFalse && accepted.status == Truth::kFalse && in.plan.blocked) return No(accepted.reason, accepted.message);
  if (all.at("ImageReady").status == Truth::kFalse) return No(all.at("ImageReady").reason, all.at("ImageReady").message);
  for (const char* type : {"SandboxRunning", "IsolationVerified"}) {
    if (all.at(type).status != Truth::kTrue) return No(all.at(type).reason, all.at(type).message);
  }
  if (!g.synced) return No("GatewayUnavailable", g.absent_message);
  if (!g.in_force) return No(all.at("PolicyInForce").reason, all.at("PolicyInForce").message);
  if (all.at("ControlConnected").status != Truth::kTrue) return No("NotRegistered", all.at("ControlConnected").message);
  if (!g.round_trip) return No("WaitingForRoundTrip");
  if (!*g.round_trip) return No("RoundTripFailed", g.round_trip_message);
  return Yes("RoundTripOK");
}
}  // namespace

std::vector<Condition> ComputeConditions(const ConditionInput& in, const std::vector<Condition>& previous, SteadyTime now,
                                         const std::string& now_text) {
  const Observed* current = ChooseSandbox(in.plan.sandboxes, in.plan.spec_hash);
  std::map<std::string, Verdict> all;
  all["Accepted"] = Accepted(in);
  if (in.has_spec) {
    all["ImageReady"] = ImageReady(in, current);
    all["SandboxRunning"] = SandboxRunning(in, current, now);
    all["ControlConnected"] = ControlConnected(in, current);
    all["PolicyInForce"] = PolicyInForce(in);
    all["IsolationVerified"] = IsolationVerified(in, current);
    all["EgressEnforced"] = EgressEnforced(in, current);
    all["UpToDate"] = UpToDate(in, current);
    all["Suspended"] = in.plan.suspended ? Yes("Suspended") : No("Running");
  }
  all["Ready"] = Ready(in, all);

  std::vector<Condition> conditions;
  for (const std::string_view type : kConditionTypes) {
    Verdict verdict = all[std::string(type)];
    if (verdict.reason.empty()) verdict.reason = "Unknown";
    const Condition* before = FindCondition(previous, type);
    const bool moved = !before || before->status != verdict.status;
    conditions.push_back({std::string(type), verdict.status, std::move(verdict.reason), std::move(verdict.message),
                          moved ? now_text : before->last_transition_time, in.generation});
  }
  return conditions;
}

}  // namespace beige
