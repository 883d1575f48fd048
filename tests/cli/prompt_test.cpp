#include <gmock/gmock.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "talker.h"

namespace beige::testing {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using nlohmann::json;

constexpr const char* kAgent = "/v1/namespaces/default/agents/a1";

TEST(PromptTest, PrintsOnlyTheFinalText) {
  const Talker talker;
  const Outcome hello = talker.home().Beige({"prompt", "a1", "hello"});
  EXPECT_EQ(hello.status, 0) << hello.err;
  EXPECT_EQ(hello.out, "Hello, wörld.\nHow are you?\n");
  EXPECT_EQ(hello.err, "");
  const Outcome work = talker.home().Beige({"prompt", "a1", "work"});
  EXPECT_EQ(work.out, "All done.\n") << "what was said before the last call is no answer";
  EXPECT_THAT(talker.Requests("POST " + std::string(kAgent) + "/prompt"), ElementsAre(R"({"text":"hello"})", R"({"text":"work"})"));
}

TEST(PromptTest, TakesItsTextFromStdin) {
  const Talker talker;
  EXPECT_EQ(talker.home().Beige({"prompt", "a1", "-"}, "from\nstdin\n").out, "from\nstdin\n");
  EXPECT_EQ(talker.home().Beige({"prompt", "a1"}, "without a dash\n").out, "without a dash\n");
  const Outcome empty = talker.home().Beige({"prompt", "a1", "-"}, " \n");
  EXPECT_EQ(empty.status, 2);
  EXPECT_THAT(empty.err, HasSubstr("the text is empty"));
}

TEST(PromptTest, JsonIsOneObjectWithTheUsage) {
  const Talker talker;
  const Outcome outcome = talker.home().Beige({"prompt", "a1", "work", "-o", "json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out), json::parse(R"({"session":"S1","prompt":"P1","text":"All done.","stop":"end",
      "usage":{"input":2400,"output":68,"cacheRead":1600,"cacheWrite":0,"costUsd":0.0084},"error":null})"));
  const Outcome failed = talker.home().Beige({"prompt", "a1", "fail auth", "-o", "json"});
  EXPECT_EQ(failed.status, 1);
  EXPECT_EQ(json::parse(failed.out)["error"], json::parse(R"({"code":"auth","message":"the model can't be asked"})"));
  EXPECT_EQ(json::parse(failed.out)["stop"], nullptr);
}

TEST(PromptTest, OptionsReachTheGateway) {
  const Talker talker;
  talker.home().Write("cat.png", std::string("\x89PNG\r\n\x1a\n....", 12));
  const std::string session = "S1";
  ASSERT_EQ(talker.home().Beige({"sessions", "new", "a1"}).status, 0);
  const Outcome outcome = talker.home().Beige({"prompt", "a1", "--session", "session/" + session, "--model", "test/two", "--thinking", "high", "--image", talker.home().path() + "/cat.png", "look"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(talker.Requests("POST " + std::string(kAgent) + "/prompt"),
              ElementsAre(R"({"images":[{"data":"iVBORw0KGgouLi4u","mediaType":"image/png"}],"model":"test/two","session":"S1","text":"look","thinkingLevel":"high"})"));
  const Outcome no_image = talker.home().Beige({"prompt", "a1", "look", "--image", talker.home().path() + "/agents.d/a1.yaml"});
  EXPECT_EQ(no_image.status, 2);
  EXPECT_THAT(no_image.err, HasSubstr("a1.yaml: want an image (PNG, JPEG, GIF or WebP)"));
}

TEST(PromptTest, VerboseShowsCallsOnStderr) {
  const Talker talker;
  const Outcome outcome = talker.home().Beige({"prompt", "a1", "work", "-v"});
  EXPECT_EQ(outcome.out, "All done.\n");
  EXPECT_THAT(outcome.err, HasSubstr("> exec ls -la wc x\n  file 0\n"));
  EXPECT_THAT(outcome.err, HasSubstr("... 20 more lines\n> patch notes.txt\n  @@ -1,2 +1,2 @@\n  -old line\n  +new line\n   kept\n> kv get a\n  kv: denied by policy\n"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("I'll look")));
}

struct Failure {
  std::string text;
  int status;
  std::string error;
};

TEST(PromptTest, ExitStatusSaysWhatWentWrong) {
  const Talker talker;
  const Failure cases[] = {
      {"refuse", 4, "agent a1: is suspended"},
      {"fail auth", 1, "auth: the model can't be asked; try again in 20s; 'beige sessions show a1 S"},
      {"fail cooling", 5, "cooling: "},
      {"fail denied", 4, "denied: "},
      {"fail interrupted", 5, "interrupted: "},
      {"cut", 1, "the answer is not whole: max_tokens"},
      {"drop", 5, "went away in the middle of the turn"},
  };
  for (const auto& c : cases) {
    const Outcome outcome = talker.home().Beige({"prompt", "a1", c.text});
    EXPECT_EQ(outcome.status, c.status) << c.text << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(c.error));
    EXPECT_THAT(outcome.err, MatchesRegex("beige: prompt: [^\n]*\n"));
  }
  const Outcome session = talker.home().Beige({"prompt", "a1", "x", "--session", "../../etc"});
  EXPECT_EQ(session.status, 3);
  EXPECT_THAT(session.err, HasSubstr("no such session"));
}

TEST(PromptTest, WaitsUntilTheAgentIsReady) {
  const Talker talker;
  talker.home().Write("agents.d/b1.yaml", AgentText("b1"));
  const Outcome late = talker.home().Beige({"prompt", "b1", "hello", "--timeout", "50ms"});
  EXPECT_EQ(late.status, 124);
  EXPECT_THAT(late.err, HasSubstr("agent.beige.dev/b1 is not Ready after 50ms"));
  EXPECT_EQ(talker.home().Beige({"prompt", "nobody", "hello"}).status, 3);
  talker.home().WriteStatus(ReadyAgent("a1", Truth::kFalse, "Starting"));
  Program waiting(talker.home().Command({"prompt", "a1", "hello"}));
  talker.home().WriteStatus(ReadyAgent("a1"));
  const Outcome outcome = waiting.Finish();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "Hello, wörld.\nHow are you?\n");
}

TEST(PromptTest, WithoutAGatewayItSaysSoAtOnce) {
  const Home home;
  home.Write("agents.d/a1.yaml", AgentText("a1"));
  const Outcome outcome = home.Beige({"prompt", "a1", "hello"});
  EXPECT_EQ(outcome.status, 5);
  EXPECT_THAT(outcome.err, HasSubstr("start it with 'beige up'"));
}

TEST(PromptTest, CtrlCAbortsTheTurn) {
  const Talker talker;
  Program prompt(talker.home().Command({"prompt", "a1", "hang", "-o", "json"}));
  ASSERT_TRUE(Eventually([&] { return !talker.Requests("POST " + std::string(kAgent) + "/prompt").empty(); }));
  prompt.Signal(SIGINT);
  const Outcome outcome = prompt.Finish();
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["stop"], "aborted");
  EXPECT_THAT(outcome.err, HasSubstr("interrupted; the turn was aborted"));
  EXPECT_THAT(talker.Requests("POST " + std::string(kAgent) + "/sessions/S1/abort"), ElementsAre(R"({"prompt":"P1"})"));
}

}  // namespace
}  // namespace beige::testing
