#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

#include "home.h"

namespace beige::testing {
namespace {
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::string Directory() { return std::filesystem::path(BeigeProgram()).parent_path(); }

Outcome Shell(const std::string& shell, const std::string& script) {
  return Program({"/usr/bin/env", shell, "-c", "PATH=" + Directory() + ":$PATH; " + script}, {}).Finish(std::chrono::seconds(60));
}

// What bash itself offers for the last of the words.
std::vector<std::string> Complete(std::vector<std::string> words) {
  std::string list;
  for (const auto& word : words) list += " '" + word + "'";
  const Outcome bash = Shell("bash", "source <(beige completion bash); COMP_WORDS=(" + list + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _beige; printf '%s\\n' \"${COMPREPLY[@]}\"");
  EXPECT_EQ(bash.status, 0) << bash.err;
  EXPECT_EQ(bash.err, "");
  std::vector<std::string> offered;
  std::istringstream lines(bash.out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) offered.push_back(line);
  }
  return offered;
}

TEST(CompletionTest, BashTakesTheScriptAndBindsItToBeige) {
  const Outcome bash = Shell("bash", "source <(beige completion bash) && complete -p beige");
  EXPECT_EQ(bash.status, 0) << bash.err;
  EXPECT_EQ(bash.out, "complete -F _beige beige\n");
}

TEST(CompletionTest, BashOffersCommandsOptionsAndChoices) {
  EXPECT_THAT(Complete({"beige", ""}), IsSupersetOf({"up", "doctor", "policy", "completion", "explain", "adopt", "exec"}));
  EXPECT_THAT(Complete({"beige", "do"}), ElementsAre("down", "doctor"));
  EXPECT_THAT(Complete({"beige", "audit", ""}), ElementsAre("tail", "show"));
  EXPECT_THAT(Complete({"beige", "audit", "tail", "--f"}), ElementsAre("--follow"));
  EXPECT_THAT(Complete({"beige", "get", ""}), IsSupersetOf({"agents", "tools", "skills"}));
  EXPECT_THAT(Complete({"beige", "-o", ""}), ElementsAre("table", "wide", "json", "yaml", "name"));
  EXPECT_THAT(Complete({"beige", "status", "--output", "j"}), ElementsAre("json"));
  EXPECT_THAT(Complete({"beige", "completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(Complete({"beige", "up", "--"}), IsSupersetOf({"--detach", "--help", "--home", "--namespace"}));
  EXPECT_THAT(Complete({"beige", "up", "--"}), Not(Contains("--ready-fd"))) << "hidden from help";
}

TEST(CompletionTest, BashAsksBeigeForNamesInTheHomeOfTheLine) {
  const Home home;
  home.Write("agents.d/a.yaml", AgentText("researcher"));
  home.Write("agents.d/b.yaml", AgentText("writer"));
  EXPECT_THAT(Complete({"beige", "--home", home.path(), "chat", "r"}), ElementsAre("researcher"));
  EXPECT_THAT(Complete({"beige", "--home", home.path(), "sessions", ""}), IsSupersetOf({"show", "delete", "researcher", "writer"}));
  EXPECT_THAT(Complete({"beige", "--home", home.path(), "sessions", "show", ""}), ElementsAre("researcher", "writer"));
  home.Write("gateway.yaml", "apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\ntools: {kv: {path: ./kv}}\n");
  EXPECT_THAT(Complete({"beige", "--home", home.path(), "exec", "-it", ""}), ElementsAre("researcher", "writer"));
  EXPECT_THAT(Complete({"beige", "exec", "--home", home.path(), "--timeout", "30s", "r"}), ElementsAre("researcher"));
  EXPECT_THAT(Complete({"beige", "--home", home.path(), "exec", "writer", "--", "r"}), IsEmpty()) << "what follows is the command's";
  EXPECT_THAT(Complete({"beige", "--home", home.path(), "delete", "agent", "writer", "r"}), ElementsAre("researcher"));
  EXPECT_THAT(Complete({"beige", "--home", home.path(), "policy", "explain", "writer", ""}), ElementsAre("kv"));
  EXPECT_THAT(Complete({"beige", "--home", home.path(), "audit", "tail", "-n", "5", "--agent", "w"}), ElementsAre("writer"));
  EXPECT_THAT(Complete({"beige", "--home", home.path(), "-n", "other", "exec", ""}), IsEmpty()) << "no agent in that namespace";
}

TEST(CompletionTest, EveryCommandOfTheHelpIsInEveryScript) {
  const std::string bash = RunBeige({"completion", "bash"}).out;
  const std::string zsh = RunBeige({"completion", "zsh"}).out;
  const std::string fish = RunBeige({"completion", "fish"}).out;
  std::istringstream help(RunBeige({"--help"}).out);
  size_t commands = 0;
  bool listed = false;
  for (std::string line; std::getline(help, line);) {
    if (line.starts_with("Subcommands")) listed = true;
    if (!listed || !line.starts_with("  ") || line[2] == ' ' || line.starts_with("  beige")) continue;
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    ++commands;
    EXPECT_THAT(bash, HasSubstr("'" + name + "'")) << name;
    EXPECT_THAT(zsh, HasSubstr("_beige_cmd_" + name + "()")) << name;
    EXPECT_THAT(fish, HasSubstr(" -a " + name + " -d ")) << name;
  }
  EXPECT_GE(commands, 20u);
  EXPECT_THAT(zsh, HasSubstr("#compdef beige\n"));
  EXPECT_THAT(zsh, HasSubstr("_beige_agents"));
  EXPECT_THAT(fish, HasSubstr("complete -c beige -n '__beige_argument 0 exec' -a '(__beige_names agents)'"));
}

// The other shells need not be there; where they are, they judge their script.
TEST(CompletionTest, ZshAndFishTakeTheirScripts) {
  if (Shell("sh", "command -v zsh").status == 0) {
    const Outcome zsh = Shell("zsh", "autoload -U compinit && compinit -u -D && source <(beige completion zsh) && echo ${_comps[beige]}");
    EXPECT_EQ(zsh.out, "_beige\n") << zsh.err;
  }
  if (Shell("sh", "command -v fish").status == 0) {
    const Outcome fish = Program({"/usr/bin/env", "fish", "--no-config", "-c", "set PATH " + Directory() + " $PATH; beige completion fish | source; complete -C 'beige audit '"}).Finish();
    EXPECT_THAT(fish.out, HasSubstr("tail\tThe latest records")) << fish.err;
  }
}

}  // namespace
}  // namespace beige::testing
