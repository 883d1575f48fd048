#ifndef BEIGE_CLI_DOCTOR_ENGINES_H_
#define BEIGE_CLI_DOCTOR_ENGINES_H_

#include <string>

#include "api/config.h"
#include "api/load.h"
#include "cli/doctor/engine_probe.h"
#include "cli/doctor/finding.h"

namespace beige::cli {

// What one engine is; an engine that Beige does not need is never a failure.
struct EngineLook {
  std::string name;      // docker | podman
  std::string socket;    // "" = none found
  std::string state;     // ok | notFound | notAnswering | denied
  EngineFacts facts;     // of ok
  std::string message;   // of the others
  bool used = false;     // the one that the operator uses
};

struct EngineReport {
  std::vector<EngineLook> engines;  // docker, podman: always both
  Findings findings;
};

// Looks for Docker and Podman, asks them what they can, and whether the default image is there.
EngineReport LookAtEngines(const OperatorConfig& config, const EnvLookup& env);

}  // namespace beige::cli

#endif
