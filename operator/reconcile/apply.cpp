#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/open_beneath.h"
#include "base/random.h"
#include "operator/reconcile/host_places.h"
#include "operator/reconcile/prepare.h"
#include "operator/reconcile/reconciler.h"
#include "operator/reconcile/sandbox_record.h"
#include "operator/reconcile/spec_builder.h"
#include "operator/store/trash.h"

namespace beige {
using runtime::Observed;
using runtime::State;
namespace {
constexpr int kGraceSeconds = 2;

const Observed* FindSandbox(const PlanInput& in, const std::string& id) {
  for (const Observed& sandbox : in.sandboxes) {
    if (sandbox.id == id) return &sandbox;
  }
  return nullptr;
}

// Sources that are reached by a link only, or not at all. The gateway may write where most of them lie, and the engine follows links as root.
std::vector<runtime::Mismatch> StraySources(const runtime::SandboxSpec& spec) {
  std::vector<runtime::Mismatch> out;
  for (const runtime::Mount& mount : spec.mounts) {
    if (OpenBeneath(mount.root, mount.source, O_PATH)) continue;
    const int err = errno;
    out.push_back({"source of " + mount.target, mount.source, err == ELOOP ? "a link on the way to " + RealPath(mount.source).value_or("nothing") : std::strerror(err)});
  }
  return out;
}
}  // namespace

void Reconciler::Say(const Pass& pass, EventType type, const std::string& reason, const std::string& message) {
  d_.events.Record(pass.key, type, reason, message);
  LogInfo(message, {{"agent", pass.key.ToString()}, {"reason", reason}});
}

void Reconciler::Apply(Pass& pass, const std::vector<Action>& actions) {
  pass.began = d_.clock.Now();
  for (const Action& action : actions) {
    Result<> done = Do(pass, action);
    if (!done) {
      if (done.error().code == Code::kUnavailable || done.error().code == Code::kTimeout) d_.hooks.on_engine_trouble();
      LogWarn(std::string(ActionName(action.kind)) + " failed", {{"agent", pass.key.ToString()}, {"why", done.error().message}});
      pass.failed = action;
      pass.error = done.error();
      return;
    }
    if (pass.waiting) return;
  }
}

Result<> Reconciler::Do(Pass& pass, const Action& action) {
  const Identity& identity = *pass.identity;
  const std::string id = action.id.empty() ? pass.created_id : action.id;
  switch (action.kind) {
    case ActionKind::kPutGrant: return d_.gateway.Put(pass.input.grant);
    case ActionKind::kRemoveGrant: return d_.gateway.Remove(identity.uid());
    case ActionKind::kEnsureImage: return DoEnsureImage(pass);
    case ActionKind::kPrepare: return PrepareDirectories(d_.paths, identity);
    case ActionKind::kCreate: return DoCreate(pass);
    case ActionKind::kAnnounce: {
      const Observed* sandbox = FindSandbox(pass.input, id);
      return d_.gateway.Announce(identity.uid(), sandbox ? sandbox->instance : pass.created_instance);
    }
    case ActionKind::kStart: return DoStart(pass, id, action.reason);
    case ActionKind::kVerify: return DoVerify(pass, id);
    case ActionKind::kUnpause:
      Say(pass, EventType::kNormal, "Unpaused", "unpausing the sandbox that somebody paused");
      return d_.runtime.Unpause(id);
    case ActionKind::kRename:
      Say(pass, EventType::kNormal, "Renamed", "giving the sandbox its name " + pass.input.name + " back");
      return d_.runtime.Rename(id, pass.input.name);
    case ActionKind::kStop:
      if (action.reason == "DiskPressure") {
        Say(pass, EventType::kWarning, "DiskPressure", "stopping the sandbox: " + pass.input.disk_pressure);
        BEIGE_TRY(d_.runtime.Stop(id, kGraceSeconds));
        pass.memory.stopped_for_disk = id;
        return {};
      }
      Say(pass, EventType::kWarning, "SandboxStopped", "stopping the sandbox: it is not isolated as asked");
      BEIGE_TRY(d_.runtime.Stop(id, kGraceSeconds));
      pass.memory.stopped_for_mismatch = id;
      return {};
    case ActionKind::kRemove: return DoRemove(pass, action);
    case ActionKind::kProbe: return d_.gateway.Probe(identity.uid());
    case ActionKind::kDisposeWorkspace:
      if (identity.agent.spec.workspace_retention == RetentionPolicy::kDelete) {
        BEIGE_TRY(TrashWorkspace(d_.paths, pass.key, d_.clock.WallNow()));
      }
      BEIGE_TRY(RemoveSandboxRecord(d_.paths, identity.uid()));
      return RemoveTree(d_.paths.EtcDir(identity.uid()));
    case ActionKind::kForget: return d_.identities.Forget(identity.uid());
  }
  return Fail(Code::kInternal, "unknown action");
}

Result<> Reconciler::DoEnsureImage(Pass& pass) {
  pass.image = d_.images.Ensure(ImageReference(*pass.identity), pass.identity->agent.spec.sandbox.image_pull_policy, pass.key);
  if (pass.image.kind == ImageState::Kind::kReady) return {};
  pass.waiting = true;
  if (pass.image.kind == ImageState::Kind::kFailed) {
    if (pass.image.reason == "EngineUnavailable") {
      pass.image = {};
      return Fail(Code::kUnavailable, "the engine does not say which images it has");
    }
    pass.look_again = pass.image.retry_in;
  }
  return {};
}

Result<> Reconciler::DoCreate(Pass& pass) {
  SpecContext context{d_.home.id, d_.bin_dir, HexEncode(RandomBytes(8)), pass.image.image.id, pass.permissions.sources};
  const runtime::SandboxSpec spec = BuildSandboxSpec(*pass.identity, *pass.config, d_.paths, context);
  if (const auto stray = StraySources(spec); !stray.empty()) {
    return Fail(Code::kDenied, stray[0].field + ": want " + stray[0].want + ", have " + stray[0].have);
  }
  BEIGE_TRY(WriteSandboxRecord(d_.paths, spec));  // before: a container without its record would look changed
  BEIGE_ASSIGN(pass.created_id, d_.runtime.Create(spec));
  pass.created_instance = spec.instance;
  pass.memory.had_sandbox = true;
  d_.index.Add(pass.identity->uid(), pass.created_id);
  return {};
}

Result<> Reconciler::DoStart(Pass& pass, const std::string& id, const std::string& reason) {
  BEIGE_TRY(d_.runtime.Start(id));
  BEIGE_ASSIGN(const std::optional<Observed> started, d_.runtime.Observe(id));
  if (!started) return Fail(Code::kConflict, "the sandbox was removed while it started");
  pass.memory.our_start = StartId(*started);
  pass.memory.stopped_for_disk.clear();
  d_.hooks.on_start(pass.key, reason, std::chrono::duration<double>(d_.clock.Now() - pass.began).count());
  Say(pass, EventType::kNormal, "SandboxStarted", "started container " + started->name + " (" + reason + ")");
  return {};
}

Result<> Reconciler::DoVerify(Pass& pass, const std::string& id) {
  const auto look = [&] { return d_.runtime.Observe(id); };
  BEIGE_ASSIGN(const std::optional<Observed> before, look());
  if (!before || before->state != State::kRunning) return {};  // ended already: the next look deals with that
  std::optional<runtime::SandboxSpec> spec = ReadSandboxRecord(d_.paths, pass.identity->uid(), before->instance);
  if (!spec) {
    const SpecContext context{d_.home.id, d_.bin_dir, before->instance, before->image_id, pass.permissions.sources};
    spec = BuildSandboxSpec(*pass.identity, *pass.config, d_.paths, context);
  }
  BEIGE_ASSIGN(std::vector<runtime::Mismatch> mismatches, d_.runtime.Verify(*spec, id));
  // Again: who may write where a source lies can have put a link there since. Where the kernel shows the process, Verify has compared what
  // is mounted with what lies there without links; this is for where it does not.
  for (runtime::Mismatch& stray : StraySources(*spec)) mismatches.push_back(std::move(stray));
  BEIGE_ASSIGN(const std::optional<Observed> after, look());
  // One that ended or was restarted meanwhile shows nothing about this start.
  if (!after || after->state != State::kRunning || StartId(*after) != StartId(*before)) return {};
  pass.memory.verified = StartId(*after);
  pass.memory.mismatches = std::move(mismatches);
  if (pass.memory.mismatches.empty()) pass.memory.verified_ok = pass.memory.verified;
  return {};
}

Result<> Reconciler::DoRemove(Pass& pass, const Action& action) {
  const Observed* sandbox = FindSandbox(pass.input, action.id);
  const std::string name = sandbox ? sandbox->name : action.id;
  const bool wanted = action.reason == "SpecChanged" || action.reason == "Suspended" || action.reason == "Deleted";
  if (wanted && sandbox && sandbox->state == State::kRunning) {
    BEIGE_TRY(d_.runtime.Stop(action.id, kGraceSeconds));
  }
  BEIGE_TRY(d_.runtime.Remove(action.id));
  d_.index.Drop(pass.identity->uid(), action.id);
  Say(pass, EventType::kNormal, "SandboxRemoved", "removed container " + name + " (" + action.reason + ")");
  if (action.reason == "Duplicate") return {};
  SandboxMemory& memory = pass.memory;
  const SteadyTime now = d_.clock.Now();
  if (wanted) {
    memory.restart.in_a_row = 0;
    memory.restart.allowed_at = now;
    memory.exit_reason.clear();
  } else {
    memory.restart = AfterExit(memory.restart, memory.running_start.empty() ? std::chrono::nanoseconds(0) : now - memory.running_since, now);
    memory.exit_reason = action.reason;
    memory.exit_message = "the sandbox had to be replaced";
  }
  memory.had_sandbox = false;
  memory.running_start.clear();
  return {};
}

}  // namespace beige
