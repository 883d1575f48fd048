#include "cli/completion/scripts.h"
#include "cli/completion/words.h"

namespace beige::cli {
namespace {
// Finds the command that the words before the cursor name, how many arguments it has already, and whether an option waits for its value.
constexpr const char* kBashHead = R"sh(# bash completion for beige. Load it with:  source <(beige completion bash)
_beige_names() {  # KIND: names of agents or tools of the home that the line speaks of
  "${COMP_WORDS[0]}" "${_beige_where[@]}" get "$1" -o name 2>/dev/null | sed 's|.*/||'
}

_beige_reply() {  # KIND CHOICES
  case $1 in
    choices) COMPREPLY=($(compgen -W "$2" -- "$cur")) ;;
    agents|tools) COMPREPLY=($(compgen -W "$(_beige_names "$1")" -- "$cur")) ;;
    namespaces) COMPREPLY=($(compgen -W "default $("${COMP_WORDS[0]}" "${_beige_where[@]}" get agents -A -o name 2>/dev/null | sed -n 's|.*/\(.*\)/.*|\1|p' | sort -u)" -- "$cur")) ;;
    files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
    directories) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
  esac
}

_beige() {
  local cur=${COMP_WORDS[COMP_CWORD]} path="" arguments=0 waits="" word i
  local -a _beige_where=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -n $waits ]]; then
      case $waits in --home|-n|--namespace) [[ $path$waits != *tail-n ]] && _beige_where+=("$waits" "$word") ;; esac
      waits=""
      continue
    fi
    if [[ $word == -- ]]; then return; fi
    case $word in
      --home=*) _beige_where+=("$word"); continue ;;
      -*) if _beige_takes_value "$path" "$word"; then waits=$word; fi; continue ;;
    esac
    if _beige_is_command "${path:+$path }$word" && ((arguments == 0)); then path=${path:+$path }$word; else ((arguments++)); fi
  done
  if [[ -n $waits ]]; then _beige_value "$path" "$waits"; return; fi
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$(_beige_options "$path")" -- "$cur")); return; fi
  _beige_argument "$path" "$arguments"
}
)sh";

const char* Word(ValueKind kind) {
  switch (kind) {
    case ValueKind::kChoices: return "choices";
    case ValueKind::kAgents: return "agents";
    case ValueKind::kTools: return "tools";
    case ValueKind::kFiles: return "files";
    case ValueKind::kDirectories: return "directories";
    case ValueKind::kNamespaces: return "namespaces";
    case ValueKind::kNone: return "none";
  }
  return "none";
}

std::string Reply(ValueKind kind, const std::vector<std::string>& choices) {
  if (kind == ValueKind::kNone) return ":";
  return std::string("_beige_reply ") + Word(kind) + (kind == ValueKind::kChoices ? " " + Quoted(Joined(choices)) : "");
}
}  // namespace

std::string BashCompletion(const CommandTree& root) {
  std::vector<std::string> paths;
  std::string takes, options, values, arguments;
  const auto global = [&](std::string* words) {
    for (const auto& option : root.options) *words += (words->empty() ? "" : " ") + Joined(option.names);
  };
  // Options of a command stand before the global ones: `audit tail -n` is not the namespace.
  const auto add_values = [&](const std::string& path, const CommandTree& command) {
    for (const auto& option : command.options) {
      if (!option.takes_value) continue;
      for (const auto& name : option.names) {
        const std::string pattern = path.empty() ? "*' '" + name : Quoted(path + " " + name);
        takes += "    " + pattern + ") return 0 ;;\n";
        values += "    " + pattern + ") " + Reply(KindOf(option), option.choices) + " ;;\n";
      }
    }
  };
  Walk(root, [&](const std::string& path, const CommandTree& command) {
    if (!path.empty()) {
      paths.push_back(Quoted(path));
      add_values(path, command);
    }
    std::string words;
    for (const auto& option : command.options) words += (words.empty() ? "" : " ") + Joined(option.names);
    if (!path.empty()) global(&words);
    options += "    " + Quoted(path) + ") echo " + Quoted(words) + " ;;\n";
    if (!command.commands.empty()) {
      std::vector<std::string> names;
      for (const auto& child : command.commands) names.push_back(child.name);
      arguments += "    " + Quoted(path + " 0") + ") _beige_reply choices " + Quoted(Joined(names));
      // A command that takes either: `sessions show` and `sessions NAME`.
      if (!command.arguments.empty()) {
        arguments += "; local -a commands=(\"${COMPREPLY[@]}\"); " + Reply(KindOf(command.arguments[0]), command.arguments[0].choices) +
                     "; COMPREPLY=(\"${commands[@]}\" \"${COMPREPLY[@]}\")";
      }
      arguments += " ;;\n";
    }
    for (size_t i = 0; i < command.arguments.size(); ++i) {
      const auto& argument = command.arguments[i];
      const std::string pattern = Quoted(path + " " + std::to_string(i)) + (argument.repeats ? "|" + Quoted(path + " ") + "*" : "");
      arguments += "    " + pattern + ") " + Reply(KindOf(argument), argument.choices) + " ;;\n";
    }
  });
  add_values("", root);
  return std::string(kBashHead) + "\n_beige_is_command() {\n  case $1 in\n    " + Joined(paths, "|") + ") return 0 ;;\n  esac\n  return 1\n}\n" +
         "\n_beige_takes_value() {\n  case \"$1 $2\" in\n" + takes + "  esac\n  return 1\n}\n" + "\n_beige_options() {\n  case $1 in\n" + options + "  esac\n}\n" +
         "\n_beige_value() {\n  case \"$1 $2\" in\n" + values + "  esac\n}\n" + "\n_beige_argument() {\n  case \"$1 $2\" in\n" + arguments +
         "  esac\n}\n\ncomplete -F _beige beige\n";
}

}  // namespace beige::cli
