#include "operator/reconcile/reconciler.h"
#include "operator/reconcile/spec_builder.h"

namespace beige {
using runtime::Observed;

// Fills pass.input with what is there now. An error is the engine's.
Result<> Reconciler::Observe(Pass& pass) {
  PlanInput& in = pass.input;
  const std::string& uid = pass.identity->uid();
  in.gateway = d_.gateway.Facts(uid);
  in.engine_up = !d_.home.copied && !pass.held && d_.index.engine().up;
  in.sandboxes.clear();
  in.name_taken = false;
  if (!in.engine_up) {
    in.memory = pass.memory;
    return {};
  }
  for (const std::string& id : d_.index.Ids(uid)) {
    BEIGE_ASSIGN(std::optional<Observed> sandbox, d_.runtime.Observe(id));
    if (sandbox && sandbox->key.uid == uid) {
      in.sandboxes.push_back(std::move(*sandbox));
    } else {
      d_.index.Drop(uid, id);
    }
  }
  const Observed* current = ChooseSandbox(in.sandboxes, in.spec_hash);
  if (in.present && !in.suspended && (!current || current->name != in.name)) {
    BEIGE_ASSIGN(std::optional<Observed> holder, d_.runtime.FindByName(in.name));
    if (holder && holder->key.uid == uid && holder->key.home == d_.home.id) {  // made, then the operator died before it knew
      d_.index.Add(uid, holder->id);
      in.sandboxes.push_back(std::move(*holder));
      current = ChooseSandbox(in.sandboxes, in.spec_hash);
    } else if (holder) {
      in.name_taken = true;
    }
  }
  if (d_.index.TakeSuspicion(uid)) pass.memory.verified.clear();
  if (in.present && !in.suspended) pass.memory = Remember(std::move(pass.memory), current, d_.clock.Now());
  in.memory = pass.memory;
  return {};
}

}  // namespace beige
