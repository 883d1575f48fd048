#ifndef BEIGE_CLI_COMPLETION_COMMAND_TREE_H_
#define BEIGE_CLI_COMPLETION_COMMAND_TREE_H_

#include <string>
#include <vector>

namespace beige::cli {

// What can stand on the command line, as the parser has it; completion scripts are made from this and from nothing else.
struct CommandTree {
  struct Option {
    std::vector<std::string> names;    // "-f", "--filename"
    std::string description;
    bool takes_value = false;
    std::vector<std::string> choices;  // of the value; empty = anything
  };
  struct Argument {
    std::string name;                  // NAME, KIND, TOOL
    std::vector<std::string> choices;
    bool repeats = false;
  };
  std::string name;
  std::string description;
  std::vector<Option> options;
  std::vector<Argument> arguments;
  std::vector<CommandTree> commands;
};

}  // namespace beige::cli

#endif
