// The commands that people talk with, as they are shipped, over a real gateway and a real sandbox.
#include <gmock/gmock.h>

#include "e2e/talk/talk_home.h"
#include "tests/cli/terminal.h"

namespace beige::e2e {
namespace {
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class TalkCommandsTest : public TalkHome {
 protected:
  static std::string Command(const std::string& command) { return "CALL exec " + json{{"command", command}}.dump(); }
};

TEST_F(TalkCommandsTest, PromptPrintsTheAnswerAndNothingElse) {
  const Outcome plain = home_->Beige({"prompt", "a1", "hello"});
  EXPECT_EQ(plain.status, 0) << plain.err;
  EXPECT_EQ(plain.out, "you said: hello\n");
  EXPECT_EQ(plain.err, "");
  EXPECT_EQ(home_->Beige({"prompt", "a1", "-"}, "from stdin\n").out, "you said: from stdin\n");
  EXPECT_EQ(home_->Beige({"prompt", "a1"}, "two\nlines\n").out, "you said: two\nlines\n");
  const Outcome told = home_->Beige({"prompt", "a1", "-v", Command("hostname; echo from inside")});
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("from inside"));
  EXPECT_THAT(told.err, HasSubstr("> exec hostname; echo from inside"));
}

TEST_F(TalkCommandsTest, PromptAsJsonHasAllThatAScriptNeeds) {
  const Outcome first = home_->Beige({"prompt", "a1", "-o", "json", "hello"});
  ASSERT_EQ(first.status, 0) << first.err;
  const json said = json::parse(first.out);
  EXPECT_EQ(said["text"], "you said: hello");
  EXPECT_EQ(said["stop"], "end");
  EXPECT_TRUE(said["error"].is_null());
  EXPECT_GT(said["usage"]["input"], 0);
  const json next = json::parse(home_->Beige({"prompt", "a1", "-o", "json", "--session", said["session"], "--model", "up/paced:20", "go on"}).out);
  EXPECT_EQ(next["session"], said["session"]);
  EXPECT_THAT(next["text"].get<std::string>(), HasSubstr("tok99"));
}

TEST_F(TalkCommandsTest, PromptSaysByItsStatusWhatWentWrong) {
  home_->AddAgent("mute", "coreTools: [{name: read}]\n");
  home_->AddAgent("limited", "model: {choices: [{name: \"up/r429:7\"}]}\n");
  home_->AddAgent("never", "model: {choices: [{name: up/obey}]}\nsandbox: {image: \"localhost/nosuch:1\"}\n");
  const auto status = [&](std::vector<std::string> words, const std::string& why) {
    words.insert(words.begin(), "prompt");
    const Outcome outcome = home_->Beige(std::move(words));
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(why));
    return outcome.status;
  };
  EXPECT_EQ(status({"a1", "  "}, "the text is empty"), 2);
  EXPECT_EQ(status({"a1", "--model", "up/nosuch", "hi"}, "up/obey, up/paced:20"), 2);
  EXPECT_EQ(status({"nobody", "hi"}, "nobody"), 3);
  EXPECT_EQ(status({"a1", "--session", "nosuch", "hi"}, "no session nosuch"), 3);
  EXPECT_EQ(status({"mute", "hi"}, "spec.model.choices"), 4);
  EXPECT_EQ(status({"limited", "hi"}, "rate_limit"), 5);
  EXPECT_EQ(status({"never", "--timeout", "1s", "hi"}, "never"), 124);
}

TEST_F(TalkCommandsTest, SessionsAreListedShownAndCompacted) {
  const std::string id = json::parse(home_->Beige({"prompt", "a1", "-o", "json", "the first word"}).out)["session"];
  ASSERT_EQ(home_->Beige({"prompt", "a1", "--session", id, Command("echo from inside")}).status, 0);
  const Outcome list = home_->Beige({"sessions", "list", "a1"});
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr(id));
  EXPECT_THAT(list.out, HasSubstr("the first word"));
  const auto listed = json::parse(home_->Beige({"sessions", "a1", "-o", "json"}).out);
  EXPECT_THAT(listed.dump(), HasSubstr(id));
  const Outcome compact = home_->Beige({"sessions", "compact", "a1", id});
  EXPECT_EQ(compact.status, 0) << compact.err;
  const Outcome show = home_->Beige({"sessions", "show", "a1", id});
  EXPECT_EQ(show.status, 0) << show.err;
  EXPECT_THAT(show.out, HasSubstr("you said: the first word"));
  EXPECT_THAT(show.out, HasSubstr("> exec echo from inside"));
  EXPECT_THAT(show.out, HasSubstr("summary of what was said before"));
  EXPECT_THAT(show.out, HasSubstr("what was said, in short"));
  ASSERT_EQ(home_->Beige({"prompt", "a1", "--session", id, "and now"}).out, "you said: and now\n");
  const std::string told = upstream_->Stats()["requests"].back()["body"]["messages"].dump();
  EXPECT_THAT(told, HasSubstr("what was said, in short"));
  EXPECT_THAT(told, Not(HasSubstr("the first word")));
  EXPECT_EQ(home_->Beige({"sessions", "delete", "a1", id}).status, 0);
  EXPECT_EQ(home_->Beige({"sessions", "show", "a1", id}).status, 3);
}

class TalkChatTest : public TalkCommandsTest {
 protected:
  void Start(std::vector<std::string> more = {}) {
    std::vector<std::string> command = {std::string(BEIGE_BIN_DIR) + "/beige", "--home", home_->path(), "chat", "a1"};
    command.insert(command.end(), more.begin(), more.end());
    ASSERT_GT(terminal_.Start(command, {"TERM=xterm"}, true), 0);
    ASSERT_TRUE(AwaitPrompt()) << terminal_.output();
  }
  bool AwaitPrompt() { return terminal_.Await("\x1b[?2004h") && terminal_.Await("a1> ") && terminal_.AwaitKeys(); }
  // Typed, and `shown` comes before the next prompt does.
  void Type(const std::string& line, const std::string& shown) {
    terminal_.Type(line + "\r");
    ASSERT_TRUE(terminal_.Await(shown)) << terminal_.output();
    ASSERT_TRUE(AwaitPrompt()) << terminal_.output();
  }

  testing::Terminal terminal_;
};

TEST_F(TalkChatTest, AConversationInATerminal) {
  Start();
  Type("hello", "you said: hello");
  Type(Command("echo from inside; id -u"), "> exec echo from inside; id -u");
  EXPECT_THAT(terminal_.output(), HasSubstr("\x1b[2mfrom inside\x1b[0m"));
  Type("/model", "up/paced:20");
  Type("/model up/paced:20", "up/paced:20 answers from now on");
  terminal_.Type("count\r");
  ASSERT_TRUE(terminal_.Await("tok3 ")) << terminal_.output();
  terminal_.Type("\x03");
  ASSERT_TRUE(terminal_.Await("aborted")) << terminal_.output();
  ASSERT_TRUE(AwaitPrompt()) << terminal_.output();
  EXPECT_THAT(terminal_.output(), Not(HasSubstr("tok99")));
  EXPECT_TRUE(Eventually([&] { return upstream_->Stats()["open"] == 0; })) << "the provider is told";
  Type("/new", "the next prompt begins a new session");
  Type("elsewhere", "you said: elsewhere");
  Type("/sessions", "elsewhere");
  Type("/session 2", "tok3");
  Type("/quit?", "did you mean /quit?");
  terminal_.Type("\x04");
  EXPECT_EQ(terminal_.Wait(), 0);
  EXPECT_TRUE(terminal_.Echoes());
  Start({"--continue"});
  EXPECT_THAT(terminal_.output(), HasSubstr("you said: elsewhere"));
  terminal_.Type("/quit\r");
  EXPECT_EQ(terminal_.Wait(), 0);
}
}  // namespace
}  // namespace beige::e2e
