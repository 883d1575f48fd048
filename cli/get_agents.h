#ifndef BEIGE_CLI_GET_AGENTS_H_
#define BEIGE_CLI_GET_AGENTS_H_

#include "cli/get.h"

namespace beige::cli {

int GetAgents(const Globals& globals, const GetOptions& options);

}  // namespace beige::cli

#endif
