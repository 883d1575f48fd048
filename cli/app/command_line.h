#ifndef BEIGE_CLI_APP_COMMAND_LINE_H_
#define BEIGE_CLI_APP_COMMAND_LINE_H_

namespace beige::cli {

// Parses the arguments, runs the command that they name and gives its exit status.
int RunCommandLine(int argc, char** argv);

}  // namespace beige::cli

#endif
