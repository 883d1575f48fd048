#ifndef BEIGE_CLI_VERSION_H_
#define BEIGE_CLI_VERSION_H_

#include "cli/globals.h"

namespace beige::cli {

int RunVersion(const Globals& globals);

}  // namespace beige::cli

#endif
