#ifndef BEIGE_CLI_ADOPT_H_
#define BEIGE_CLI_ADOPT_H_

#include "cli/globals.h"

namespace beige::cli {

// `beige adopt`: a home that was copied or moved is the one from now on, with its old id, and the sandboxes of that id are its own. Restarts
// the operator where it runs, so that it begins. 0, also when nothing was to do; 3 without a home.
int RunAdopt(const Globals& globals);

}  // namespace beige::cli

#endif
