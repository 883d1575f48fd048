#ifndef BEIGE_CLI_STATUS_H_
#define BEIGE_CLI_STATUS_H_

#include "cli/globals.h"

namespace beige::cli {

// `beige status`: what runs, and what is wrong. 0 when both processes run, 1 when one of them doesn't, 5 when beige is not up.
int RunStatus(const Globals& globals);

}  // namespace beige::cli

#endif
