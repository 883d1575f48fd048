#include <utility>

#include "api/load.h"
#include "base/log.h"
#include "operator/reconcile/reconciler.h"
#include "operator/reconcile/spec_builder.h"
#include "operator/reconcile/transitions.h"

namespace beige {
namespace {
// Plans follow from one another (started, so verify; verified, so probe); more than this many are left to the next pass.
constexpr int kRounds = 4;
constexpr std::chrono::seconds kHeld{2};
// How long a new operator lets a gateway say what it knows before it calls an agent that was Ready anything else.
constexpr std::chrono::seconds kSettle{3};
}  // namespace

SandboxMemory Reconciler::Recall(const Identity& identity, const AgentStatus& previous) {
  return memories_.With([&](auto& all) {
    auto [it, is_new] = all.try_emplace(identity.uid());
    if (is_new && previous.sandbox) it->second.restart.total = previous.sandbox->restarts;
    return it->second;
  });
}

std::string Reconciler::ImageReference(const Identity& identity) const {
  const std::string& image = identity.agent.spec.sandbox.image;
  return image.empty() ? d_.default_image : image;
}

Reconciler::Outcome Reconciler::Converge(const AgentKey& key, const DesiredAgent& desired, bool held) {
  if (!d_.index.engine().asked) return {};  // the sweep that asks queues all
  AgentStatus previous;
  const std::optional<Agent> last = d_.status.Last(key);
  if (last && desired.identity && last->metadata.uid == desired.identity->uid()) previous = last->status;

  Pass pass;
  pass.key = key;
  pass.held = held;
  pass.config = d_.config.Copy();
  if (!desired.identity) {
    WriteStatus(key, desired, previous, StatusOf(pass, desired, previous));
    if (desired.identity_error && IsRetryable(desired.identity_error->code)) return {tl::make_unexpected(*desired.identity_error), {}};
    return {};
  }
  const Identity& identity = *desired.identity;
  const AgentSpec& spec = identity.agent.spec;
  pass.identity = &identity;
  pass.permissions = CheckPermissions(spec, *pass.config, d_.paths, d_.engine_socket);
  pass.memory = Recall(identity, previous);
  pass.input.suspended = spec.operating_mode == OperatingMode::kSuspended;
  pass.input.disk_pressure = d_.disk.Why(identity.uid());
  pass.input.blocked = !pass.permissions.refused.empty();
  pass.input.name = ContainerName(d_.home.id, identity.agent.ref());
  pass.input.spec_hash = ContainerSpecHash(spec);
  pass.input.grant = GrantOf(identity);

  bool said = previous.conditions.empty();
  for (int round = 0; round < kRounds && !pass.waiting && !pass.error; ++round) {
    if (Result<> seen = Observe(pass); !seen) {
      pass.error = seen.error();
      pass.input.engine_up = false;  // the round's facts are incomplete
      d_.hooks.on_engine_trouble();
      break;
    }
    const std::vector<Action> actions = Plan(pass.input, d_.clock.Now());
    if (actions.empty()) break;
    if (said) {  // something to look at while the first start takes its time
      WriteStatus(key, desired, previous, StatusOf(pass, desired, previous));
      said = false;
      if (const auto written = d_.status.Last(key)) previous = written->status;
    }
    Apply(pass, actions);
  }
  if (pass.error && pass.input.engine_up) {
    // How it stands after the failure. If even that can't be seen, the facts from before are told.
    if (Result<> seen = Observe(pass); !seen) pass.input.engine_up = false;
  } else {
    pass.input.gateway = d_.gateway.Facts(identity.uid());
    pass.input.memory = pass.memory;
  }
  Outcome outcome;
  const SteadyTime now = d_.clock.Now();
  AgentStatus status = StatusOf(pass, desired, previous);
  const Condition* ready = FindCondition(status.conditions, "Ready");
  pass.memory.seen_ready = pass.memory.seen_ready || (ready && ready->status == Truth::kTrue);
  memories_.With([&](auto& all) { all[identity.uid()] = pass.memory; });
  if (!pass.error && !pass.memory.seen_ready && IsSettling(previous, status, now)) {
    outcome.look_again = began_ + kSettle - now;
    return outcome;
  }
  WriteStatus(key, desired, previous, std::move(status));
  if (pass.error) outcome.result = tl::make_unexpected(*pass.error);
  outcome.look_again = pass.look_again;
  if (held) outcome.look_again = kHeld;
  if (const auto next = NextLook(pass.input, now)) {
    const std::chrono::nanoseconds in = *next - now;
    outcome.look_again = outcome.look_again ? std::min(*outcome.look_again, in) : in;
  }
  return outcome;
}

// A new operator does not know yet what the one before knew; that is no news of the agent.
bool Reconciler::IsSettling(const AgentStatus& previous, const AgentStatus& next, SteadyTime now) const {
  if (now >= began_ + kSettle) return false;
  const Condition* was = FindCondition(previous.conditions, "Ready");
  const Condition* is = FindCondition(next.conditions, "Ready");
  if (!was || was->status != Truth::kTrue || !is) return false;
  for (const char* reason : {"GatewayUnavailable", "Pending", "NotRegistered", "WaitingForRoundTrip"}) {
    if (is->reason == reason) return true;
  }
  return false;
}

AgentStatus Reconciler::StatusOf(const Pass& pass, const DesiredAgent& desired, const AgentStatus& previous) const {
  const SandboxIndex::Engine engine = d_.index.engine();
  ConditionInput in;
  in.plan = pass.input;
  in.has_spec = desired.identity.has_value();
  in.problems = desired.problems;
  in.conflicts = desired.conflicts;
  in.identity_error = desired.identity_error;
  in.not_permitted = pass.permissions.refused;
  in.image = pass.image;
  in.halted = d_.home.copied ? d_.home.why : "";
  in.engine_message = !engine.up ? engine.message : pass.error ? pass.error->message
                      : pass.held ? "an earlier agent of this name is being removed" : "";
  in.failed = pass.failed;
  in.error = pass.error;
  AgentStatus status;
  if (desired.identity) {
    in.generation = desired.identity->agent.metadata.generation;
    in.egress = desired.identity->agent.spec.egress_mode;
  }
  status.observed_generation = in.generation;
  status.grant_generation = pass.input.gateway.in_force ? pass.input.gateway.in_force->generation : 0;
  status.conditions = ComputeConditions(in, previous.conditions, d_.clock.Now(), FormatTime(d_.clock.WallNow()));
  if (!pass.input.engine_up) {
    status.sandbox = previous.sandbox;  // not known to be gone
  } else if (const runtime::Observed* current = ChooseSandbox(pass.input.sandboxes, pass.input.spec_hash)) {
    SandboxStatus sandbox;
    sandbox.runtime = engine.info.type;
    sandbox.id = current->id;
    sandbox.name = current->name;
    sandbox.image = ImageReference(*desired.identity);
    const runtime::Image& image = pass.image.image;
    if (pass.image.kind == ImageState::Kind::kReady && image.id == current->image_id && !image.digest.empty()) {
      sandbox.image_digest = image.digest;
    } else {
      const bool same = previous.sandbox && previous.sandbox->id == current->id && !previous.sandbox->image_digest.empty();
      sandbox.image_digest = same ? previous.sandbox->image_digest : current->image_id;
    }
    sandbox.template_version = current->template_version;
    sandbox.start_time = current->started_at;
    sandbox.restarts = pass.memory.restart.total;
    status.sandbox = std::move(sandbox);
  }
  return status;
}

void Reconciler::WriteStatus(const AgentKey& key, const DesiredAgent& desired, const AgentStatus& previous, AgentStatus status) {
  Agent agent;
  if (desired.identity) {
    agent = desired.identity->agent;
    agent.local = AgentLocal{d_.paths.GatewaySocket(desired.identity->uid()), d_.paths.Workspace(key), desired.file};
  } else {
    agent.metadata.namespace_ = key.namespace_;
    agent.metadata.name = key.name;
    agent.local = AgentLocal{"", "", desired.file};
  }
  agent.status = std::move(status);
  const Result<bool> written = d_.status.Write(agent);
  if (!written) {
    LogError("status not written", {{"agent", key.ToString()}, {"why", written.error().message}});
    return;
  }
  d_.hooks.on_status(agent);  // unchanged ones too: a new process has not counted them yet
  if (!*written) return;
  for (const EventText& event : EventsOf(previous.conditions, agent.status.conditions)) {
    d_.events.Record(key, event.type, event.reason, event.message);
  }
}

}  // namespace beige
