#include "api/load.h"
#include "base/random.h"

namespace beige {

std::string ContainerSpecHash(const AgentSpec& spec) {
  AgentSpec shaping;
  shaping.sandbox = spec.sandbox;
  // When to pull says nothing about the container that runs.
  shaping.sandbox.image_pull_policy = PullPolicy::kIfNotPresent;
  shaping.egress_mode = spec.egress_mode;
  return ShortId(EncodeSpec(shaping), 26);
}

}  // namespace beige
