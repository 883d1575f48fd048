#ifndef BEIGE_CLI_SUPERVISE_HOME_DIRS_H_
#define BEIGE_CLI_SUPERVISE_HOME_DIRS_H_

#include "api/paths.h"
#include "base/result.h"

namespace beige::cli {

// Makes what is missing of a home's directories, 0700, takes other people's access to the home away, and links <home>/api-token.
// Invalid when the home's path is too long for its sockets.
Result<> PrepareHome(const HomePaths& paths);

}  // namespace beige::cli

#endif
