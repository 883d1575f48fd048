#include "cli/completion/words.h"

#include <algorithm>

namespace beige::cli {
namespace {
ValueKind OfName(const std::string& name) {
  if (name == "NAME" || name == "--agent") return ValueKind::kAgents;
  if (name == "TOOL") return ValueKind::kTools;
  if (name == "--filename" || name == "--image") return ValueKind::kFiles;
  if (name == "DIR" || name == "--home") return ValueKind::kDirectories;
  if (name == "--namespace") return ValueKind::kNamespaces;
  return ValueKind::kNone;
}

void WalkFrom(const std::string& path, const CommandTree& command, const std::function<void(const std::string&, const CommandTree&)>& visit) {
  visit(path, command);
  for (const auto& child : command.commands) WalkFrom(path.empty() ? child.name : path + " " + child.name, child, visit);
}
}  // namespace

ValueKind KindOf(const CommandTree::Argument& argument) { return argument.choices.empty() ? OfName(argument.name) : ValueKind::kChoices; }

ValueKind KindOf(const CommandTree::Option& option) {
  if (!option.takes_value) return ValueKind::kNone;
  if (!option.choices.empty()) return ValueKind::kChoices;
  for (const auto& name : option.names) {
    if (const ValueKind kind = OfName(name); kind != ValueKind::kNone) return kind;
  }
  return ValueKind::kNone;
}

std::string Joined(const std::vector<std::string>& words, const std::string& between) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::string Quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

void Walk(const CommandTree& root, const std::function<void(const std::string&, const CommandTree&)>& visit) { WalkFrom("", root, visit); }

}  // namespace beige::cli
