#include "cli/completion/scripts.h"
#include "cli/completion/words.h"

namespace beige::cli {
namespace {
constexpr const char* kZshHead = R"sh(#compdef beige
# zsh completion for beige. Load it with:  source <(beige completion zsh)   or save it as _beige in a directory of $fpath
typeset -ga _beige_line  # the whole line, which _arguments cuts down on its way to a subcommand
_beige_where() {  # the --home and -n of the line
  reply=()
  local i
  for ((i = 2; i < $#_beige_line; i++)); do
    case $_beige_line[i] in
      --home|-n|--namespace) reply+=("$_beige_line[i]" "$_beige_line[i+1]") ;;
      --home=*|--namespace=*) reply+=("$_beige_line[i]") ;;
    esac
  done
}
_beige_names() {
  local -a reply names
  _beige_where
  names=(${${(f)"$(beige $reply get $1 -o name 2>/dev/null)"}##*/})
  compadd -a names
}
_beige_agents() { _beige_names agents }
_beige_tools() { _beige_names tools }
)sh";

// In a spec of _arguments colons and brackets mean something.
std::string Spec(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string Action(ValueKind kind, const std::vector<std::string>& choices) {
  switch (kind) {
    case ValueKind::kChoices: return "(" + Joined(choices) + ")";
    case ValueKind::kAgents: return "_beige_agents";
    case ValueKind::kTools: return "_beige_tools";
    case ValueKind::kFiles: return "_files";
    case ValueKind::kDirectories: return "_files -/";
    default: return " ";
  }
}

std::string OptionSpecs(const CommandTree& command) {
  std::string out;
  for (const auto& option : command.options) {
    for (const auto& name : option.names) {
      std::string spec = "*" + name + "[" + Spec(option.description) + "]";
      if (option.takes_value) spec += ":value:" + Action(KindOf(option), option.choices);
      out += " \\\n    " + Quoted(spec);
    }
  }
  return out;
}

std::string FunctionName(const std::string& path) {
  std::string name = "_beige_cmd";
  if (!path.empty()) name += "_" + path;
  for (char& c : name) {
    if (c == ' ' || c == '-') c = '_';
  }
  return name;
}
}  // namespace

std::string ZshCompletion(const CommandTree& root) {
  std::string out = kZshHead;
  const std::string global = OptionSpecs(root);
  Walk(root, [&](const std::string& path, const CommandTree& command) {
    out += "\n" + FunctionName(path) + "() {\n";
    std::string specs = OptionSpecs(command) + (path.empty() ? "" : global);
    if (!command.commands.empty()) {
      out += "  local -a commands\n  local state line\n  commands=(";
      std::string cases;
      for (const auto& child : command.commands) {
        const std::string child_path = path.empty() ? child.name : path + " " + child.name;
        out += "\n    " + Quoted(Spec(child.name) + ":" + child.description);
        cases += "        " + child.name + ") " + FunctionName(child_path) + " ;;\n";
      }
      out += ")\n  _arguments -C -S" + specs + " \\\n    '1:command:->command' '*::argument:->argument'\n";
      const bool either = !command.arguments.empty() && KindOf(command.arguments[0]) == ValueKind::kAgents;  // `sessions show` and `sessions NAME`
      out += std::string("  case $state in\n    command) _describe command commands") + (either ? "; _beige_agents" : "") + " ;;\n    argument)\n      case $line[1] in\n" + cases + "      esac ;;\n  esac\n}\n";
      return;
    }
    for (size_t i = 0; i < command.arguments.size(); ++i) {
      const auto& argument = command.arguments[i];
      specs += " \\\n    " + Quoted((argument.repeats ? "*" : std::to_string(i + 1)) + ":" + argument.name + ":" + Action(KindOf(argument), argument.choices));
    }
    out += "  _arguments -S" + specs + "\n}\n";
  });
  return out + "\n_beige() { _beige_line=(\"${words[@]}\"); _beige_cmd }\nif [ \"$funcstack[1]\" = _beige ]; then _beige \"$@\"; else compdef _beige beige; fi\n";
}

}  // namespace beige::cli
