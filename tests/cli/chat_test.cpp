#include <gmock/gmock.h>
#include <sys/stat.h>

#include "talker.h"
#include "terminal.h"

namespace beige::testing {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kPrompt = "POST /v1/namespaces/default/agents/a1/prompt";

// `beige chat a1` on a terminal of its own.
class ChatTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> more = {}, std::vector<std::string> env = {"TERM=xterm"}) {
    std::vector<std::string> arguments = {"chat", "a1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ASSERT_GT(terminal_.Start(talker_.home().Command(arguments), std::move(env), true), 0);
    ASSERT_TRUE(AwaitPrompt()) << terminal_.output();
  }
  // Bracketed paste is switched on when a line is read, and is the last thing before the prompt. The editor shows that before it takes keys
  // one by one, and a Ctrl-D in between is lost.
  bool AwaitPrompt() { return terminal_.Await("\x1b[?2004h") && terminal_.Await("a1> ") && terminal_.AwaitKeys(); }
  void Say(const std::string& line) { terminal_.Type(line + "\r"); }
  const std::string& screen() const { return terminal_.output(); }

  Talker talker_;
  Terminal terminal_;
};

TEST_F(ChatTest, ShowsATurnAsItComesAndGoesOnInTheSession) {
  Start();
  Say("hello");
  ASSERT_TRUE(AwaitPrompt()) << screen();
  EXPECT_THAT(screen(), HasSubstr("\x1b[2mHow do I greet?\x1b[0m\r\n\r\nHello, wörld.\r\nHow are you?\r\n"));
  EXPECT_THAT(screen(), HasSubstr("\x1b[2m2.0k tokens in (800 cached), 34 out, $0.0042\x1b[0m"));
  Say("work");
  ASSERT_TRUE(AwaitPrompt()) << screen();
  EXPECT_THAT(screen(), HasSubstr("\x1b[36m> exec ls -la wc x\x1b[0m\r\n  \x1b[2mfile 0\x1b[0m\r\n"));
  EXPECT_THAT(screen(), HasSubstr("\x1b[32m+new line\x1b[0m"));
  EXPECT_THAT(screen(), HasSubstr("\x1b[31mkv: denied by policy\x1b[0m"));
  terminal_.Type("\x04");
  EXPECT_EQ(terminal_.Wait(), 0);
  EXPECT_THAT(talker_.Requests(kPrompt), ElementsAre(R"({"text":"hello"})", R"({"session":"S1","text":"work"})"));
}

TEST_F(ChatTest, CtrlCAbortsTheTurnAndTwiceAtThePromptLeaves) {
  Start();
  Say("hang");
  ASSERT_TRUE(terminal_.Await("I begin")) << screen();
  EXPECT_FALSE(terminal_.Echoes()) << "what is typed would stand in the answer";
  terminal_.Type("\x03");
  ASSERT_TRUE(terminal_.Await("aborted")) << screen();
  ASSERT_TRUE(AwaitPrompt());
  terminal_.Type("half a line\x03");
  ASSERT_TRUE(AwaitPrompt()) << screen();
  terminal_.Type("\x03");
  EXPECT_EQ(terminal_.Wait(), 130);
  EXPECT_TRUE(terminal_.Echoes());
  EXPECT_THAT(talker_.Requests(kPrompt), ElementsAre(R"({"text":"hang"})"));
}

TEST_F(ChatTest, WhatIsTypedWhileItAnswersIsSaidAfterwards) {
  Start();
  Say("hang");
  ASSERT_TRUE(terminal_.Await("I begin"));
  Say("later");
  terminal_.Type("\x03");
  ASSERT_TRUE(terminal_.Await("aborted"));
  ASSERT_TRUE(AwaitPrompt());
  ASSERT_TRUE(AwaitPrompt()) << screen();
  EXPECT_THAT(talker_.Requests(kPrompt), ElementsAre(R"({"text":"hang"})", R"({"session":"S1","text":"later"})"));
}

TEST_F(ChatTest, NothingOfAModelDrivesTheTerminal) {
  Start({}, {"TERM=xterm", "NO_COLOR=1"});
  const size_t before = screen().size();
  Say("evil");
  ASSERT_TRUE(AwaitPrompt()) << screen();
  const std::string turn = screen().substr(before);
  const std::string shown = turn.substr(0, turn.rfind("\x1b[?2004h"));
  EXPECT_THAT(shown, HasSubstr("\\x1b]0;owned\\x07 \\x1b[2J"));
  EXPECT_THAT(shown, HasSubstr("Â\\xc2\\x9b31m \\u202eend"));
  EXPECT_THAT(shown, HasSubstr("> exec echo \\x1b[31m"));
  EXPECT_THAT(shown, HasSubstr("\\x1b[5mblink"));
  // The editor's own escapes end with the line that was typed.
  EXPECT_THAT(shown.substr(shown.find("\x1b[?2004l") + 8), Not(HasSubstr("\x1b")));
}

TEST_F(ChatTest, CommandsChangeTheSession) {
  Start();
  Say("hello");
  ASSERT_TRUE(AwaitPrompt());
  Say("/new");
  ASSERT_TRUE(AwaitPrompt());
  Say("/model test/two high");
  ASSERT_TRUE(AwaitPrompt());
  Say("again");
  ASSERT_TRUE(AwaitPrompt());
  Say("/sessions");
  ASSERT_TRUE(terminal_.Await("S2   again")) << screen();
  ASSERT_TRUE(AwaitPrompt());
  Say("/session 2");
  ASSERT_TRUE(terminal_.Await("How are you?")) << screen();
  ASSERT_TRUE(AwaitPrompt());
  Say("/comp");
  ASSERT_TRUE(terminal_.Await("/comp: no such command; did you mean /compact?")) << screen();
  ASSERT_TRUE(AwaitPrompt());
  Say("//etc is what?");
  ASSERT_TRUE(AwaitPrompt());
  Say("/help");
  ASSERT_TRUE(terminal_.Await("/session ID")) << screen();
  ASSERT_TRUE(AwaitPrompt());
  Say("/quit");
  EXPECT_EQ(terminal_.Wait(), 0);
  EXPECT_THAT(talker_.Requests(kPrompt), ElementsAre(R"({"text":"hello"})", R"({"model":"test/two","text":"again","thinkingLevel":"high"})", R"({"session":"S1","text":"/etc is what?"})"));
}

TEST_F(ChatTest, APasteOfSeveralLinesIsOnePrompt) {
  Start();
  terminal_.Type("see: \x1b[200~one\r\ttwo\nthree\x1b[201~ ok\r");
  ASSERT_TRUE(AwaitPrompt()) << screen();
  Say("a \\");
  ASSERT_TRUE(AwaitPrompt());
  Say("b");
  ASSERT_TRUE(AwaitPrompt());
  EXPECT_THAT(talker_.Requests(kPrompt), ElementsAre(R"({"text":"see: one\n\ttwo\nthree ok"})", R"({"session":"S1","text":"a \nb"})"));
}

TEST_F(ChatTest, RemembersLinesOverChatsForItsOwnerAlone) {
  Start();
  Say("wörter");
  ASSERT_TRUE(AwaitPrompt());
  terminal_.Type("\x04");
  EXPECT_EQ(terminal_.Wait(), 0);
  struct stat st {};
  ASSERT_EQ(::stat(talker_.home().paths().ChatHistory().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0600u);
  EXPECT_EQ(talker_.home().Read("chat-history"), "wörter\n");
  Start({"--continue"});
  terminal_.Type("\x1b[A\r");  // the arrow up
  ASSERT_TRUE(AwaitPrompt()) << screen();
  EXPECT_THAT(talker_.Requests(kPrompt), ElementsAre(R"({"text":"wörter"})", R"({"session":"S1","text":"wörter"})"));
}

TEST_F(ChatTest, TabCompletesCommands) {
  Start();
  terminal_.Type("/he\t\r");
  ASSERT_TRUE(terminal_.Await("/session ID")) << screen();
}

TEST_F(ChatTest, ErrorsLeaveTheConversationOpen) {
  Start();
  Say("fail rate_limit");
  ASSERT_TRUE(terminal_.Await("rate_limit: the model can't be asked; try again in 20s")) << screen();
  ASSERT_TRUE(AwaitPrompt());
  Say("drop");
  ASSERT_TRUE(terminal_.Await("went away in the middle of the turn")) << screen();
  ASSERT_TRUE(AwaitPrompt());
  Say("cut");
  ASSERT_TRUE(terminal_.Await("limit of tokens")) << screen();
  ASSERT_TRUE(AwaitPrompt());
}

TEST(ChatPipeTest, EachLineIsAPrompt) {
  const Talker talker;
  const Outcome outcome = talker.home().Beige({"chat", "a1"}, "hello\n\n/session S9\nlast one");
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_EQ(outcome.out,
            "How do I greet?\n\nHello, wörld.\nHow are you?\n\n  2.0k tokens in (800 cached), 34 out, $0.0042\nlast one\n\n  2.0k tokens in (800 cached), 34 out, $0.0042\n");
  EXPECT_THAT(outcome.err, HasSubstr("session S9: no such session"));
  EXPECT_FALSE(talker.home().Has("chat-history"));
}

}  // namespace
}  // namespace beige::testing
