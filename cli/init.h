#ifndef BEIGE_CLI_INIT_H_
#define BEIGE_CLI_INIT_H_

#include <string>

#include "cli/globals.h"

namespace beige::cli {

// `beige init [DIR]`: writes a commented home without a live Agent. Refuses, and changes nothing, where one of its files exists.
int RunInit(const Globals& globals, const std::string& directory);

}  // namespace beige::cli

#endif
