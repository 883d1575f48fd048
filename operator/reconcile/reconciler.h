#ifndef BEIGE_OPERATOR_RECONCILE_RECONCILER_H_
#define BEIGE_OPERATOR_RECONCILE_RECONCILER_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/config.h"
#include "api/paths.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/result.h"
#include "operator/admin/gateway_client.h"
#include "operator/reconcile/conditions.h"
#include "operator/reconcile/desired.h"
#include "operator/reconcile/disk_pressure.h"
#include "operator/reconcile/images.h"
#include "operator/reconcile/permissions.h"
#include "operator/reconcile/plan.h"
#include "operator/reconcile/sandbox_index.h"
#include "operator/store/event_log.h"
#include "operator/store/home_id.h"
#include "operator/store/status_store.h"
#include "runtime/sandbox.h"

namespace beige {

using ConfigState = Guarded<std::shared_ptr<const OperatorConfig>>;

// Called from the workers; each must be thread-safe and quick.
struct ReconcileHooks {
  std::function<void(const AgentKey&, const std::string& reason, double seconds)> on_start = [](auto&&...) {};
  std::function<void(const Agent&)> on_status = [](auto&&...) {};
  std::function<void(const AgentKey&)> on_gone = [](auto&&...) {};
  std::function<void()> on_engine_trouble = [] {};  // a call failed as if the engine were away
};

// Makes one agent what is wanted: reads everything again, plans, does it, and says in conditions how it stands. The same for create,
// update, delete, drift and restart. Thread-safe as long as one key is worked on by one thread at a time (the queue sees to that).
class Reconciler {
 public:
  struct Deps {
    const HomePaths& paths;
    const HomeId& home;
    std::string bin_dir;
    std::string default_image;
    std::string engine_socket;
    runtime::SandboxRuntime& runtime;
    SandboxIndex& index;
    GatewayClient& gateway;
    IdentityStore& identities;
    StatusStore& status;
    EventLog& events;
    Images& images;
    const DesiredState& desired;
    const ConfigState& config;
    const Clock& clock;
    const DiskPressure& disk;
    ReconcileHooks hooks;
  };
  struct Outcome {
    Result<> result;                                   // an error wants a retry with backoff
    std::optional<std::chrono::nanoseconds> look_again;  // though nothing may happen until then
  };

  explicit Reconciler(Deps deps) : d_(std::move(deps)), began_(d_.clock.Now()) {}
  Outcome Reconcile(const AgentKey& key);

 private:
  // One look at one incarnation and what came of it.
  struct Pass {
    AgentKey key;
    const Identity* identity = nullptr;
    std::shared_ptr<const OperatorConfig> config;
    Permissions permissions;
    SandboxMemory memory;
    PlanInput input;
    ImageState image;
    std::optional<Action> failed;
    std::optional<Error> error;
    bool held = false;     // the engine counts as away
    bool waiting = false;  // for something that will queue the key
    std::optional<std::chrono::nanoseconds> look_again;
    // What kCreate made, for the actions after it.
    std::string created_id, created_instance;
    SteadyTime began{};
  };

  // `held`: an earlier incarnation is still there, so the engine is not to be touched.
  Outcome Converge(const AgentKey& key, const DesiredAgent& desired, bool held);
  // False if it has to wait for the engine.
  Result<bool> CleanUp(const Identity& buried);
  std::string ImageReference(const Identity& identity) const;
  AgentStatus StatusOf(const Pass& pass, const DesiredAgent& desired, const AgentStatus& previous) const;
  void WriteStatus(const AgentKey& key, const DesiredAgent& desired, const AgentStatus& previous, AgentStatus status);
  SandboxMemory Recall(const Identity& identity, const AgentStatus& previous);

  Result<> Observe(Pass& pass);                               // observe.cpp
  void Apply(Pass& pass, const std::vector<Action>& actions);  // apply.cpp
  Result<> Do(Pass& pass, const Action& action);
  Result<> DoEnsureImage(Pass& pass);
  Result<> DoCreate(Pass& pass);
  Result<> DoStart(Pass& pass, const std::string& id, const std::string& reason);
  Result<> DoVerify(Pass& pass, const std::string& id);
  Result<> DoRemove(Pass& pass, const Action& action);
  void Say(const Pass& pass, EventType type, const std::string& reason, const std::string& message);

  bool IsSettling(const AgentStatus& previous, const AgentStatus& next, SteadyTime now) const;

  const Deps d_;
  const SteadyTime began_;
  Guarded<std::map<std::string, SandboxMemory>> memories_;  // by uid
};

}  // namespace beige

#endif
