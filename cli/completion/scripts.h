#ifndef BEIGE_CLI_COMPLETION_SCRIPTS_H_
#define BEIGE_CLI_COMPLETION_SCRIPTS_H_

#include <string>

#include "cli/completion/command_tree.h"

namespace beige::cli {

// Completion for one shell: commands, options and their values, and the names of agents and tools, which the script asks `beige get` for
// (with the --home and -n of the line). Each is a whole script for stdout.
std::string BashCompletion(const CommandTree& root);
std::string ZshCompletion(const CommandTree& root);
std::string FishCompletion(const CommandTree& root);

}  // namespace beige::cli

#endif
