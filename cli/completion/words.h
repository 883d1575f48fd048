#ifndef BEIGE_CLI_COMPLETION_WORDS_H_
#define BEIGE_CLI_COMPLETION_WORDS_H_

#include <functional>
#include <string>
#include <vector>

#include "cli/completion/command_tree.h"

namespace beige::cli {

enum class ValueKind { kNone, kChoices, kAgents, kTools, kFiles, kDirectories, kNamespaces };

// What may stand for an argument or an option's value: its choices, else what its name says.
ValueKind KindOf(const CommandTree::Argument& argument);
ValueKind KindOf(const CommandTree::Option& option);

std::string Joined(const std::vector<std::string>& words, const std::string& between = " ");
// In single quotes, as every POSIX shell reads it.
std::string Quoted(const std::string& text);

// Every command from the root down with its words: "", "audit", "audit tail".
void Walk(const CommandTree& root, const std::function<void(const std::string& path, const CommandTree& command)>& visit);

}  // namespace beige::cli

#endif
