#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "home.h"

namespace beige::testing {
namespace {
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

struct Case {
  std::vector<std::string> arguments;
  int status;
  std::string error;  // part of stderr
};

TEST(UsageTest, BadUsageIsOneLineThatSaysWhatToDo) {
  const Home home;
  const Case cases[] = {
      {{}, 2, "beige: A subcommand is required; see 'beige --help'"},
      {{"fly"}, 2, "see 'beige --help'"},
      {{"up", "--bogus"}, 2, "see 'beige up --help'"},
      {{"get"}, 2, "beige: get: KIND is required; see 'beige get --help'"},
      {{"get", "pods"}, 2, "pods not in {"},
      {{"get", "agents", "-o", "xml"}, 2, "xml"},
      {{"get", "tools", "-w"}, 2, "only agents can be watched"},
      {{"audit"}, 2, "see 'beige audit --help'"},
      {{"audit", "show"}, 2, "beige: audit show: ID is required; see 'beige audit show --help'"},
      {{"apply"}, 2, "beige: apply: --filename is required"},
      {{"exec"}, 125, "beige: exec: NAME is required; see 'beige exec --help'"},
      {{"exec", "a1"}, 125, "want a command after --"},
      {{"exec", "a1", "b1", "--", "ls"}, 125, "\"b1\""},
      {{"exec", "a1", "--timeout", "fast", "--", "ls"}, 125, "beige: exec: --timeout: want a duration such as 30s, got \"fast\""},
      {{"exec", "a1", "--env", "X", "--", "ls"}, 125, "want KEY=VALUE"},
      {{"exec", "a1", "--", "ls"}, 125, "run/cli.sock: nobody listens there); start it with 'beige up'"},
      {{"status"}, 5, "start it with 'beige up'"},
      {{"prompt"}, 2, "beige: prompt: NAME is required; see 'beige prompt --help'"},
      {{"prompt", "a1", "hi", "--thinking", "deep"}, 2, "deep not in {"},
      {{"prompt", "a1", "hi"}, 5, "start it with 'beige up'"},
      {{"chat", "a1"}, 5, "start it with 'beige up'"},
      {{"chat", "a1", "--session", "S", "--continue"}, 2, "want one of them"},
      {{"sessions"}, 2, "want the NAME of an agent"},
      {{"sessions", "show", "a1"}, 2, "beige: sessions show: ID is required; see 'beige sessions show --help'"},
      {{"sessions", "a1"}, 5, "start it with 'beige up'"},
      {{"explain"}, 2, "beige: explain: FIELD is required; see 'beige explain --help'"},
      {{"policy", "explain", "a1"}, 2, "beige: policy explain: TOOL is required; see 'beige policy explain --help'"},
      {{"policy", "explain", "a1", "kv"}, 5, "start it with 'beige up'"},
      {{"completion", "csh"}, 2, "csh not in {"},
      {{"adopt", "--home", "/nonexistent"}, 3, "choose another with --home"},
      {{"config", "check", "--home", "/nonexistent"}, 3, "beige init"},
  };
  for (const auto& c : cases) {
    const Outcome outcome = home.Beige(c.arguments);
    EXPECT_EQ(outcome.status, c.status) << ::testing::PrintToString(c.arguments) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(c.error));
    EXPECT_THAT(outcome.err, MatchesRegex("beige: [^\n]*\n")) << ::testing::PrintToString(c.arguments);
  }
}

TEST(UsageTest, EveryCommandHasHelpWithAnExample) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"up"}, {"down"}, {"status"}, {"version"}, {"init"}, {"config", "check"}, {"apply"}, {"delete"}, {"get"}, {"describe"}, {"wait"}, {"exec"},
        {"audit", "tail"}, {"audit", "show"}, {"logs"}, {"events"},
        {"chat"}, {"prompt"}, {"sessions"}, {"sessions", "list"}, {"sessions", "show"}, {"sessions", "new"}, {"sessions", "delete"}, {"sessions", "abort"}, {"sessions", "compact"}, {"sessions", "model"},
        {"doctor"}, {"adopt"}, {"explain"}, {"policy", "explain"}, {"completion"}}) {
    std::vector<std::string> arguments = command;
    arguments.push_back("--help");
    const Outcome help = RunBeige(arguments);
    EXPECT_EQ(help.status, 0);
    EXPECT_EQ(help.err, "");
    std::string words;
    for (const auto& word : command) words += " " + word;
    EXPECT_THAT(help.out, HasSubstr("Example:\n  beige" + words));
  }
}

TEST(UsageTest, HomeComesFromTheOptionThenTheEnvironment) {
  const Home a;
  const Home b;
  a.Write("agents.d/a.yaml", AgentText("of-a"));
  b.Write("agents.d/b.yaml", AgentText("of-b"));
  Program by_environment({BeigeProgram(), "get", "agents", "-o", "name"}, {"BEIGE_HOME=" + a.path()});
  EXPECT_EQ(by_environment.Finish().out, "agent.beige.dev/of-a\n");
  Program by_option({BeigeProgram(), "get", "agents", "-o", "name", "--home", b.path()}, {"BEIGE_HOME=" + a.path()});
  EXPECT_EQ(by_option.Finish().out, "agent.beige.dev/of-b\n");
}

TEST(UsageTest, VersionIsAlsoJson) {
  EXPECT_EQ(RunBeige({"version"}).out, "beige " BEIGE_VERSION "\n");
  EXPECT_EQ(nlohmann::json::parse(RunBeige({"version", "-o", "json"}).out)["version"], BEIGE_VERSION);
}

}  // namespace
}  // namespace beige::testing
