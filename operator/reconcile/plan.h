#ifndef BEIGE_OPERATOR_RECONCILE_PLAN_H_
#define BEIGE_OPERATOR_RECONCILE_PLAN_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "api/admin.h"
#include "base/clock.h"
#include "operator/admin/gateway_table.h"
#include "operator/reconcile/memory.h"
#include "runtime/sandbox.h"

namespace beige {

// Hand-bumped when our own hardening changes: an older template is UpToDate=False, not replaced.
inline constexpr int kTemplate = 1;

// A running sandbox whose PID 1 has not registered for this long is replaced.
inline constexpr std::chrono::seconds kRegisterWithin{20};
inline constexpr int kRoundTripFailures = 2;

enum class ActionKind {
  kPutGrant,
  kRemoveGrant,
  kEnsureImage,
  kPrepare,   // workspace, passwd and group, everything that is mounted
  kCreate,
  kAnnounce,  // to the gateway: one start is about to happen
  kStart,
  kVerify,
  kUnpause,
  kRename,
  kStop,
  kRemove,
  kProbe,             // ask the gateway for a round trip
  kDisposeWorkspace,  // keep it or move it to the trash, as the Agent says
  kForget             // the incarnation is cleaned up
};

struct Action {
  ActionKind kind = ActionKind::kVerify;
  std::string id;      // container; "" = the one that kCreate makes
  std::string reason;  // CamelCase, for events and metrics
  bool operator==(const Action&) const = default;
};

struct PlanInput {
  // desired
  bool present = true;   // false: this incarnation is deleted
  bool suspended = false;
  std::string disk_pressure;  // why it has to stay stopped for want of disk space; "" = it may run
  bool blocked = false;  // not permitted as asked: what runs is kept going, nothing is made anew
  std::string name;
  std::string spec_hash;
  admin::Grant grant;
  // observed
  bool engine_up = false;
  std::vector<runtime::Observed> sandboxes;  // all of this uid
  bool name_taken = false;                   // by somebody else's container
  GatewayFacts gateway;
  SandboxMemory memory;
};

// What to do next, in order; empty when there is nothing to do or only to wait. Pure.
std::vector<Action> Plan(const PlanInput& in, SteadyTime now);

// When the plan may differ though nothing has happened; nullopt = never by itself.
std::optional<SteadyTime> NextLook(const PlanInput& in, SteadyTime now);

const char* ActionName(ActionKind kind);

}  // namespace beige

#endif
