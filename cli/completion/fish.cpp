#include "cli/completion/scripts.h"
#include "cli/completion/words.h"

namespace beige::cli {
namespace {
constexpr const char* kFishHead = R"sh(# fish completion for beige. Load it with:  beige completion fish | source
function __beige_words  # the words of the line that are no options, without the program: "audit tail"
    set -l takes_value --home -n --namespace -o --output -f --filename --timeout -e --env -w --workdir --for --lines --agent --tail
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word $takes_value
            set skip 1
        else if not string match -q -- '-*' $word
            echo $word
        end
    end
end
function __beige_at  # COMMAND... : the line stands at this command
    set -l words (__beige_words)
    set -l count (count $argv)
    test (count $words) -ge $count; or return 1
    test $count = 0; and return 0
    test "$words[1..$count]" = "$argv"
end
function __beige_argument  # INDEX COMMAND... : and its argument of that index comes next; "+" = any
    __beige_at $argv[2..-1]; or return 1
    set -l have (math (count (__beige_words)) - (count $argv) + 1)
    test $argv[1] = +; or test $have = $argv[1]
end
function __beige_where
    set -l words (commandline -opc)
    for i in (seq (count $words))
        if contains -- $words[$i] --home -n --namespace
            echo $words[$i]
            echo $words[(math $i + 1)]
        end
    end
end
function __beige_names
    beige (__beige_where) get $argv[1] -o name 2>/dev/null | string replace -r '.*/' ''
end
complete -c beige -f
)sh";

// In single quotes; fish knows \' and \\ there.
std::string FishQuoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string Values(ValueKind kind, const std::vector<std::string>& choices) {
  switch (kind) {
    case ValueKind::kChoices: return " -a " + FishQuoted(Joined(choices));
    case ValueKind::kAgents: return " -a '(__beige_names agents)'";
    case ValueKind::kTools: return " -a '(__beige_names tools)'";
    case ValueKind::kFiles: return " -F";
    case ValueKind::kDirectories: return " -a '(__fish_complete_directories)'";
    default: return "";
  }
}

std::string OptionLine(const std::string& condition, const CommandTree::Option& option) {
  std::string out = "complete -c beige" + condition;
  for (const auto& name : option.names) out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.takes_value) out += " -r" + Values(KindOf(option), option.choices);
  return out + " -d " + FishQuoted(option.description) + "\n";
}
}  // namespace

std::string FishCompletion(const CommandTree& root) {
  std::string out = kFishHead;
  Walk(root, [&](const std::string& path, const CommandTree& command) {
    const std::string at = path.empty() ? "" : " -n " + FishQuoted("__beige_at " + path);
    for (const auto& option : command.options) out += OptionLine(at, option);
    for (const auto& child : command.commands) {
      out += "complete -c beige -n " + FishQuoted("__beige_argument 0" + (path.empty() ? "" : " " + path)) + " -a " + child.name + " -d " + FishQuoted(child.description) + "\n";
    }
    for (size_t i = 0; i < command.arguments.size(); ++i) {
      const auto& argument = command.arguments[i];
      const std::string values = Values(KindOf(argument), argument.choices);
      if (!values.empty()) out += "complete -c beige -n " + FishQuoted("__beige_argument " + (argument.repeats ? "+" : std::to_string(i)) + " " + path) + values + "\n";
    }
  });
  return out;
}

}  // namespace beige::cli
