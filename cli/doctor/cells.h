#ifndef BEIGE_CLI_DOCTOR_CELLS_H_
#define BEIGE_CLI_DOCTOR_CELLS_H_

#include "api/paths.h"
#include "cli/doctor/finding.h"
#include "cli/supervise/services.h"

namespace beige::cli {

struct CellReport {
  bool bubblewrap = false;
  bool user_namespaces = false;
  bool made = false;  // one was really made, in the view that the gateway would have
  Findings findings;
};

// What tools need. `split` is what `beige up` would give the gateway; `paths` a home in which it may write.
CellReport LookAtCells(const HomePaths& paths, const PrivilegeSplit& split);

}  // namespace beige::cli

#endif
