#include "cli/app/command_tree.h"

#include <CLI/CLI.hpp>

namespace beige::cli {
namespace {
// The parser keeps a set of allowed words only as text: TEXT:{a,b}.
std::vector<std::string> Choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.rfind('}');
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos || close < open) return choices;
  std::string word;
  for (size_t i = open + 1; i <= close; ++i) {
    if (i < close && type[i] != ',') {
      word += type[i];
    } else if (!word.empty()) {
      choices.push_back(std::move(word));
      word.clear();
    }
  }
  return choices;
}
}  // namespace

CommandTree TreeOf(const CLI::App& app) {
  CommandTree tree;
  tree.name = app.get_name();
  tree.description = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->nonpositional()) {
      CommandTree::Option entry;
      for (const auto& name : option->get_snames()) entry.names.push_back("-" + name);
      for (const auto& name : option->get_lnames()) entry.names.push_back("--" + name);
      entry.description = option->get_description();
      entry.takes_value = option->get_type_size() != 0;
      entry.choices = Choices(*option);
      tree.options.push_back(std::move(entry));
    } else {
      tree.arguments.push_back({option->get_name(true), Choices(*option), option->get_items_expected_max() > 1});
    }
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) tree.commands.push_back(TreeOf(*command));
  return tree;
}

}  // namespace beige::cli
