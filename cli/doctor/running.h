#ifndef BEIGE_CLI_DOCTOR_RUNNING_H_
#define BEIGE_CLI_DOCTOR_RUNNING_H_

#include "api/paths.h"
#include "cli/doctor/finding.h"
#include "cli/supervise/services.h"

namespace beige::cli {

struct RunningReport {
  bool supervised = false;    // by `beige up`
  bool gateway = false;
  bool operator_ = false;
  PrivilegeSplit split;       // of what runs; kind "unknown" when not both do
  Findings findings;
};

// The two processes: up or not, closed to others of their uid, and what they themselves complain of.
RunningReport LookAtProcesses(const HomePaths& paths);

Finding JudgeSplit(const PrivilegeSplit& split, bool running);

}  // namespace beige::cli

#endif
