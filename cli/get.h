#ifndef BEIGE_CLI_GET_H_
#define BEIGE_CLI_GET_H_

#include <string>
#include <vector>

#include "cli/globals.h"

namespace beige::cli {

struct GetOptions {
  std::string kind;                // agents | tools | skills | models (or their singular)
  std::vector<std::string> names;  // empty = all
  bool watch = false;              // agents only
};
int RunGet(const Globals& globals, const GetOptions& options);

// `beige describe agent NAME`: spec, conditions, latest events and where things lie.
int RunDescribe(const Globals& globals, const std::string& name);

}  // namespace beige::cli

#endif
