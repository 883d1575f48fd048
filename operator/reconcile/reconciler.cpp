#include "operator/reconcile/reconciler.h"

#include <utility>

#include "base/log.h"
#include "operator/reconcile/spec_builder.h"

namespace beige {

Reconciler::Outcome Reconciler::Reconcile(const AgentKey& key) {
  const std::shared_ptr<const Desired> desired = d_.desired.Copy();
  if (!desired) return {};  // not everything is known yet, so nothing is known to be unwanted
  // Earlier incarnations first: they may hold the name, the workspace or the uid that the present one gets.
  bool held = false;
  for (const Identity& buried : d_.identities.Tombstones(key)) {
    const Result<bool> cleaned = CleanUp(buried);
    if (!cleaned) return {tl::make_unexpected(cleaned.error()), {}};
    held = held || !*cleaned;
  }
  const auto it = desired->agents.find(key);
  if (it != desired->agents.end()) return Converge(key, it->second, held);
  if (held) return {{}, std::chrono::seconds(30)};  // the sweep queues the key when the engine is back
  if (Result<> removed = d_.status.Remove(key); !removed) return {std::move(removed), {}};
  d_.events.Forget(key);
  d_.hooks.on_gone(key);
  return {};
}

Result<bool> Reconciler::CleanUp(const Identity& buried) {
  Pass pass;
  pass.key = buried.agent.key();
  pass.identity = &buried;
  pass.config = d_.config.Copy();
  pass.input.present = false;
  pass.input.name = ContainerName(d_.home.id, buried.agent.ref());
  if (Result<> seen = Observe(pass); !seen) {
    d_.hooks.on_engine_trouble();
    return tl::make_unexpected(seen.error());
  }
  const std::vector<Action> actions = Plan(pass.input, d_.clock.Now());
  Apply(pass, actions);
  if (pass.error) return tl::make_unexpected(*pass.error);
  if (!pass.input.engine_up) return false;
  memories_.With([&](auto& all) { all.erase(buried.uid()); });
  d_.events.Record(pass.key, EventType::kNormal, "AgentDeleted",
                   buried.agent.spec.workspace_retention == RetentionPolicy::kDelete ? "deleted; its workspace is in the trash for 7 days"
                                                                                     : "deleted; its workspace is kept");
  return true;
}

}  // namespace beige
