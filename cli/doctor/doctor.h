#ifndef BEIGE_CLI_DOCTOR_DOCTOR_H_
#define BEIGE_CLI_DOCTOR_DOCTOR_H_

#include "cli/globals.h"

namespace beige::cli {

// `beige doctor`: everything that agents need of this machine and this home, each with what to do where it is missing. Works without a
// running Beige and without a home. 0 when agents can run, 1 when a needed piece is missing.
int RunDoctor(const Globals& globals);

}  // namespace beige::cli

#endif
