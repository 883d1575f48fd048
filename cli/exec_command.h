#ifndef BEIGE_CLI_EXEC_COMMAND_H_
#define BEIGE_CLI_EXEC_COMMAND_H_

#include <string>
#include <vector>

#include "cli/globals.h"

namespace beige::cli {

struct ExecOptions {
  std::string name;
  std::vector<std::string> command;
  std::vector<std::string> env;
  std::string workdir;
  std::string timeout;  // "" = none
  bool interactive = false;
  bool tty = false;
};
// `beige exec NAME -- CMD...`: the command's own exit status, 128+n for signal n, 125 for our failures, 126 denied, 127 not found, 124 timed out.
int RunExec(const Globals& globals, const ExecOptions& options);

}  // namespace beige::cli

#endif
