#ifndef BEIGE_OPERATOR_RECONCILE_CONDITIONS_H_
#define BEIGE_OPERATOR_RECONCILE_CONDITIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/agent.h"
#include "api/load.h"
#include "operator/reconcile/images.h"
#include "operator/reconcile/plan.h"

namespace beige {

// Everything that conditions are made of.
struct ConditionInput {
  PlanInput plan;
  bool has_spec = true;  // some version was accepted
  int64_t generation = 0;
  EgressMode egress = EgressMode::kNone;
  std::vector<Problem> problems;
  std::vector<Problem> conflicts;
  std::optional<Error> identity_error;
  std::vector<std::string> not_permitted;
  ImageState image;
  std::string halted;          // why nothing may be done at all (copied home); "" = may
  std::string engine_message;  // why the engine is down
  std::optional<Action> failed;  // the action that this pass stopped at
  std::optional<Error> error;    // and why
};

// All types of kConditionTypes. lastTransitionTime moves only with the status. Pure: `now` and `now_text` are the same instant.
std::vector<Condition> ComputeConditions(const ConditionInput& in, const std::vector<Condition>& previous, SteadyTime now,
                                         const std::string& now_text);

}  // namespace beige

#endif
