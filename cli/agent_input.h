#ifndef BEIGE_CLI_AGENT_INPUT_H_
#define BEIGE_CLI_AGENT_INPUT_H_

#include <string>
#include <vector>

#include "api/load.h"
#include "base/result.h"
#include "cli/globals.h"

namespace beige::cli {

// One Agent as a person gave it with -f.
struct InputAgent {
  Agent agent;
  std::string text;    // its document, verbatim; or made from the Agent where -n moved it to another namespace
  std::string source;  // where it was, for messages
};

struct Input {
  std::vector<InputAgent> agents;
  std::vector<Problem> problems;
};

// Reads files, directories (their .yaml, .yml and .json) and "-" (stdin). An error is one of reading; what is wrong with the content
// is in `problems`. An Agent without a namespace takes -n; one with another namespace than -n is a problem.
Result<Input> ReadInput(const Globals& globals, const std::vector<std::string>& paths);

}  // namespace beige::cli

#endif
