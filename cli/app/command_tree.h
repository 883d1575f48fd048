#ifndef BEIGE_CLI_APP_COMMAND_TREE_H_
#define BEIGE_CLI_APP_COMMAND_TREE_H_

#include "cli/completion/command_tree.h"

namespace CLI {
class App;
}

namespace beige::cli {

// The parser's commands, options and arguments as values; what is hidden from help is left out.
CommandTree TreeOf(const CLI::App& app);

}  // namespace beige::cli

#endif
