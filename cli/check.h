#ifndef BEIGE_CLI_CHECK_H_
#define BEIGE_CLI_CHECK_H_

#include <string>
#include <vector>

#include "api/load.h"
#include "cli/globals.h"

namespace beige::cli {

struct HomeCheck {
  std::vector<Problem> problems;      // what makes a file invalid
  std::vector<std::string> warnings;  // what works otherwise than its author may think
  size_t files = 0;
};

// Reads operator.yaml, gateway.yaml with the tools and skills that it names, and every file of agents.d.
HomeCheck CheckHome(const HomePaths& paths, const EnvLookup& env);

// The environment, in which every variable is set: for looks at files whose secrets only the gateway's environment has.
EnvLookup AnyEnv();

// `beige config check`: every problem of every file at once; 0 or 2.
int RunConfigCheck(const Globals& globals);

}  // namespace beige::cli

#endif
