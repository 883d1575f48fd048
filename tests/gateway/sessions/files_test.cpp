// What stays on disk, over stops and crashes.
#include "base/files.h"
#include "tests/gateway/sessions/sessions_fixture.h"

namespace beige::sessions {
namespace {
using nlohmann::json;
using testing::Eventually;

class FilesTest : public SessionsTest {
 protected:
  std::vector<Summary> List() {
    auto listed = Get<std::vector<Summary>>([&](Done<std::vector<Summary>> done) { sessions_->List(Agent(), std::move(done)); });
    EXPECT_TRUE(listed);
    return listed ? *listed : std::vector<Summary>();
  }
  static Answered Calls(const std::string& id) {
    Answered answer;
    answer.message.parts = {llm::ToolCall{id, "exec", R"({"command":"rm"})", "", std::nullopt}};
    return answer;
  }
};

TEST_F(FilesTest, ASessionGoesOnAfterARestart) {
  Grant({"obey"});
  const Accepted first = Talk("remember 42");
  Restart();
  Grant({"obey"});
  Talk("what was it", first.session);
  const json messages = LastBody()["messages"];
  EXPECT_EQ(messages[0]["content"][0]["text"], "remember 42");
  EXPECT_EQ(messages[1]["content"][0]["text"], "you said: remember 42");
  EXPECT_EQ(List()[0].turns, 2);
}

TEST_F(FilesTest, ACallOfACrashIsNeverRunAgainAndTheModelHearsOfIt) {
  Grant({"obey"});
  Leave("crashed", {First("crashed"), Said{"p1", "local", "clean up", {}}, TurnBegun{"p1", 1}, Calls("call_1")}, R"({"v":1,"n":5,"ts":"2026)");
  Talk("go on", "crashed");
  core_->On([&] { EXPECT_TRUE(calls_->started.empty()); });
  const json messages = LastBody()["messages"];
  EXPECT_EQ(messages[2]["content"][0]["tool_use_id"], "call_1");
  EXPECT_NE(messages[2].dump().find("interrupted"), std::string::npos);
  EXPECT_EQ(messages[2]["content"][1]["text"], "go on");
  const json shown = Show("crashed");
  EXPECT_NE(shown.dump().find(R"("code":"interrupted")"), std::string::npos);
  Talk("a third", "crashed");
  EXPECT_EQ(Show("crashed")["turns"], 3);
}

TEST_F(FilesTest, TheTextOfAnAnswerThatACrashCutIsThere) {
  Grant({"obey"});
  Leave("cut", {First("cut"), Said{"p1", "local", "tell me", {}}, TurnBegun{"p1", 1}, Partial{"up/obey", 1, "It was "}, Partial{"up/obey", 1, "a dark"}, Partial{"up/obey", 3, "And then"}},
        R"({"v":1,"n":7,"ts":"2026)");
  const json shown = Show("cut");
  ASSERT_EQ(shown["messages"].size(), 4u) << shown;  // prompt, turn, answer, end
  EXPECT_EQ(shown["messages"][2]["unfinished"], "interrupted");
  EXPECT_EQ(shown["messages"][2]["model"], "up/obey");
  EXPECT_EQ(shown["messages"][2]["parts"], (json{{{"type", "text"}, {"text", "It was a dark"}}, {{"type", "text"}, {"text", "And then"}}}));
  Talk("go on", "cut");
  EXPECT_EQ(LastBody()["messages"][1]["content"][0]["text"], "It was a dark");
  EXPECT_EQ(Show("cut")["messages"].size(), 8u);
}

TEST_F(FilesTest, ALongAnswerIsWrittenDownWhileItComesAndShownOnce) {
  Grant({"paced:20"});
  Eye& eye = NewEye();
  const Accepted accepted = Begin("talk", eye);
  const auto pieces = [&] {
    const std::string text = ReadFile(File(accepted.session)).value_or("");
    std::string out;
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const auto line = DecodeLine(std::string_view(text).substr(at, text.find('\n', at) - at));
      if (const auto* partial = line ? std::get_if<Partial>(&line->record) : nullptr) out += partial->text + "|";
    }
    return out;
  };
  ASSERT_TRUE(Eventually([&] { return !pieces().empty(); }));
  EXPECT_TRUE(pieces().starts_with("tok0 tok1 ")) << pieces();
  EXPECT_FALSE(eye.Ended(accepted.prompt));
  ASSERT_TRUE(Eventually([&] { return eye.Ended(accepted.prompt); }));
  std::string joined = pieces();
  EXPECT_LE(std::count(joined.begin(), joined.end(), '|'), 4) << joined;
  std::erase(joined, '|');
  EXPECT_TRUE(eye.Text().starts_with(joined)) << joined;
  const json shown = Show(accepted.session);
  ASSERT_EQ(shown["messages"].size(), 4u);
  EXPECT_EQ(shown["messages"][2]["parts"][0]["text"], eye.Text());
}

TEST_F(FilesTest, SessionsOfAnEarlierAgentOfThatNameAreNotThisOnes) {
  Grant({"obey"});
  Leave("old", {First("old", "uid-before"), Said{"p1", "local", "secret", {}}});
  EXPECT_TRUE(List().empty());
  const auto shown = Get<std::string>([&](Done<std::string> done) { sessions_->Show(Agent(), "old", 0, std::move(done)); });
  ASSERT_FALSE(shown);
  EXPECT_EQ(shown.error().code, Code::kNotFound);
  EXPECT_EQ(Submit(Say("hi", "old")).error().code, Code::kNotFound);
}

TEST_F(FilesTest, AnIdIsNeverAPath) {
  Grant({"obey"});
  for (const std::string& id : std::vector<std::string>{"../a1/x", "..", ".", "a/b", "a.jsonl", std::string("a\0b", 3), std::string(65, 'a'), "\xff"}) {
    const auto refused = Submit(Say("hi", id));
    ASSERT_FALSE(refused) << id;
    EXPECT_EQ(refused.error().code, Code::kInvalid) << id;
  }
  EXPECT_EQ(Submit(Say("hi", "nosuch")).error().code, Code::kNotFound);
}

TEST_F(FilesTest, TheListIsNewestFirstAlsoWithoutReadingWholeFiles) {
  Grant({"obey"});
  const Accepted first = Talk("one");
  const Accepted second = Talk("two");
  Talk("one more", first.session);
  Restart();
  const auto listed = List();
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].id, first.session);
  EXPECT_EQ(listed[0].title, "one");
  EXPECT_EQ(listed[0].turns, 2);
  EXPECT_EQ(listed[0].usage.input, 20);
  EXPECT_EQ(listed[1].id, second.session);
}

TEST_F(FilesTest, ADeletedSessionIsGone) {
  Grant({"paced:20"});
  const auto accepted = Submit(Say("talk"));
  ASSERT_TRUE(accepted);
  Eye& eye = NewEye();
  Follow(*accepted, eye);
  ASSERT_TRUE(Eventually([&] { return !eye.Of("text").empty(); }));
  ASSERT_TRUE(Get<void>([&](Done<> done) { sessions_->Delete(Agent(), accepted->session, std::move(done)); }));
  EXPECT_TRUE(eye.Closed());
  EXPECT_FALSE(Exists(File(accepted->session)));
  EXPECT_TRUE(List().empty());
  EXPECT_EQ(Submit(Say("hi", accepted->session)).error().code, Code::kNotFound);
}

TEST_F(FilesTest, NoKeyStandsInAnyFileOfAConversation) {
  Grant({"echokey"});
  const Accepted accepted = Talk("hi");
  EXPECT_EQ(eye().Of("error")[0].data["code"], "auth");
  EXPECT_EQ(ReadFile(File(accepted.session)).value_or("").find("sk-canary"), std::string::npos);
  EXPECT_EQ(ReadFile(core_->paths().AuditLog()).value_or("sk-canary").find("sk-canary"), std::string::npos);
}

TEST_F(FilesTest, ARemovedAgentsSessionsAreInTheTrashForSevenDays) {
  Grant({"obey"});
  const Accepted accepted = Talk("secret");
  Leave("old", {First("old", "uid-before"), Said{"p1", "local", "older", {}}});
  ASSERT_TRUE(core_->On([&] { return core_->roster().Remove(Agent().uid); }));
  EXPECT_FALSE(Exists(core_->paths().SessionsDir(Agent().key())));
  const auto trash = ListDir(core_->paths().SessionsTrash());
  ASSERT_EQ(trash->size(), 1u);
  EXPECT_TRUE((*trash)[0].ends_with("Z-default-a1")) << (*trash)[0];
  EXPECT_EQ(ListDir(core_->paths().SessionsTrash() + "/" + (*trash)[0])->size(), 2u);
  // The next agent of that name begins with nothing; asking again moves nothing of his.
  Grant({"obey"});
  EXPECT_TRUE(List().empty());
  EXPECT_EQ(Submit(Say("hi", accepted.session)).error().code, Code::kNotFound);
  ASSERT_TRUE(core_->On([&] { return core_->roster().Remove("uid-before"); }));
  Talk("mine");
  EXPECT_EQ(List().size(), 1u);
  const std::string past = core_->paths().SessionsTrash() + "/2020-01-01T00:00:00.000Z-default-a1";
  ASSERT_TRUE(MakeDirs(past, 0700));
  Restart();
  EXPECT_TRUE(Eventually([&] { return !Exists(past); }));
  EXPECT_EQ(ListDir(core_->paths().SessionsTrash())->size(), 1u);
}

TEST_F(FilesTest, AnAgentThatIsOnlyAbsentAtAStartKeepsItsSessions) {
  Grant({"obey"});
  const Accepted accepted = Talk("hello");
  Down();
  ASSERT_TRUE(RemoveTree(core_->paths().GrantsDir()));
  core_->Restart();
  Up();
  EXPECT_TRUE(List().size() == 1) << "read by whoever asks for that uid";
  EXPECT_TRUE(Exists(File(accepted.session)));
  Grant({"obey"});
  Talk("again", accepted.session);
}

TEST_F(FilesTest, ADirectoryThatCanNotBeWrittenIsAnErrorWithItsName) {
  Grant({"obey"});
  ASSERT_TRUE(MakeDirs(core_->paths().Sessions(), 0700));
  ASSERT_TRUE(WriteFileAtomic(core_->paths().Sessions() + "/default", "in the way", 0600));
  const auto refused = Submit(Say("hi"));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("sessions/default"), std::string::npos) << refused.error().message;
}
}  // namespace
}  // namespace beige::sessions
