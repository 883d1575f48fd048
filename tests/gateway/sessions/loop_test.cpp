// What a turn does when all goes well.
#include "base/files.h"
#include "tests/gateway/sessions/sessions_fixture.h"

namespace beige::sessions {
namespace {
using nlohmann::json;
using testing::Eventually;

TEST_F(SessionsTest, APromptIsAnsweredWatchedAndOnRecord) {
  Grant({"obey"});
  const Accepted accepted = Talk("hello");
  EXPECT_EQ(eye().Names(), "turn model text usage done");
  EXPECT_EQ(Answer(), "you said: hello");
  EXPECT_EQ(eye().Of("done")[0].data, (json{{"prompt", accepted.prompt}, {"stop", "end"}}));
  EXPECT_EQ(eye().Of("turn")[0].data["text"], "hello");
  const json shown = Show(accepted.session);
  EXPECT_EQ(shown["title"], "hello");
  EXPECT_EQ(shown["turns"], 1);
  EXPECT_EQ(shown["usage"]["input"], 10);
  ASSERT_EQ(shown["messages"].size(), 4u);  // prompt, turn, answer, end
  EXPECT_EQ(shown["messages"][2]["parts"][0]["text"], "you said: hello");
  EXPECT_TRUE(AuditHas(R"("kind":"llm","tool":"up/obey")"));
  EXPECT_TRUE(AuditHas(R"("session":")" + accepted.session));
  EXPECT_NE(core_->metrics().Render().find(R"(beige_turns_total{agent="a1",namespace="default",outcome="done"} 1)"), std::string::npos);
}

TEST_F(SessionsTest, ACallIsRunAndItsResultTold) {
  Grant({"obey"});
  core_->On([&] { calls_->script["ls"] = {"a.txt\n"}; });
  Talk(R"(CALL exec {"command":"ls"})");
  EXPECT_EQ(eye().Names(), "turn model writing usage call output result model text usage done");
  const Seen call = eye().Of("call")[0];
  EXPECT_EQ(call.data["arguments"], (json{{"command", "ls"}}));
  EXPECT_EQ(eye().Of("output")[0].data["text"], "a.txt\n");
  EXPECT_NE(Answer().find("a.txt"), std::string::npos);
  core_->On([&] {
    ASSERT_EQ(calls_->started.size(), 1u);
    EXPECT_EQ(calls_->started[0].kind, CallKind::kCoreTool);
    EXPECT_EQ(calls_->started[0].tool, "exec");
    EXPECT_EQ(calls_->started[0].surface, Surface::kLlm);
    EXPECT_EQ(calls_->started[0].actor, "agent");
  });
  // The call and its result stand side by side in what the model is told.
  const json messages = LastBody()["messages"];
  EXPECT_EQ(messages[1]["content"][0]["id"], call.data["id"]);
  EXPECT_EQ(messages[2]["content"][0]["tool_use_id"], call.data["id"]);
}

TEST_F(SessionsTest, CallsOfOneAnswerRunSideBySide) {
  Grant({"manytools"});
  core_->On([&] { calls_->script["true"] = {.hang = true}; });
  const auto accepted = Submit(Say("go"));
  ASSERT_TRUE(accepted);
  Eye& eye = NewEye();
  Follow(*accepted, eye);
  ASSERT_TRUE(Eventually([&] { return core_->On([&] { return calls_->started.size(); }) == 5; }));
  for (int i = 0; i < 5; ++i) core_->On([&] { calls_->Finish("true", {"x"}); });
  ASSERT_TRUE(Eventually([&] { return eye.Ended(accepted->prompt); }));
  std::set<std::string> ids;
  for (const Seen& result : eye.Of("result")) ids.insert(result.data["id"]);
  EXPECT_EQ(ids.size(), 5u);
  EXPECT_EQ(Show(accepted->session)["turns"], 1);
}

TEST_F(SessionsTest, ASessionGoesOnWithAllThatWasSaid) {
  Grant({"obey"});
  const Accepted first = Talk("one");
  Talk("two", first.session);
  const json messages = LastBody()["messages"];
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0]["content"][0]["text"], "one");
  EXPECT_EQ(messages[2]["content"][0]["text"], "two");
  Talk("elsewhere");
  EXPECT_EQ(LastBody()["messages"].size(), 1u);
}

TEST_F(SessionsTest, TheModelIsToldWhoItIsAndWhatItHas) {
  Grant({"obey"}, {"read", "exec"});
  Talk("hi");
  const json body = LastBody();
  const std::string system = body["system"][0]["text"];
  EXPECT_TRUE(system.starts_with("You are a1")) << system;
  EXPECT_NE(system.find("# Instructions\nBe brief."), std::string::npos);
  std::string tools;
  for (const json& tool : body["tools"]) tools += tool["name"].get<std::string>() + " ";
  EXPECT_EQ(tools, "read exec ");
}

TEST_F(SessionsTest, ASecondPromptWaitsForItsTurn) {
  Grant({"obey"});
  Eye& eye = NewEye();
  const Accepted first = BeginCall(eye);
  const auto second = Submit(Say("later", first.session));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->ahead, 1u);
  core_->On([&] { calls_->Finish("wait", {"x"}); });
  ASSERT_TRUE(Eventually([&] { return eye.Ended(second->prompt); }));
  EXPECT_TRUE(eye.Ended(first.prompt));
  EXPECT_EQ(LastBody()["messages"].back()["content"][0]["text"], "later");
}

TEST_F(SessionsTest, SteeringIsToldInTheMiddleOfATurn) {
  Grant({"obey"});
  Eye& eye = NewEye();
  const Accepted first = BeginCall(eye);
  Prompt steer = Say("use the other file", first.session);
  steer.steer = true;
  ASSERT_TRUE(Submit(steer));
  core_->On([&] { calls_->Finish("wait", {"x"}); });
  ASSERT_TRUE(Eventually([&] { return eye.Ended(first.prompt); }));
  EXPECT_EQ(eye.Of("steer").size(), 1u);
  EXPECT_EQ(eye.Of("turn").size(), 1u);
  const json last = LastBody()["messages"].back()["content"];
  EXPECT_EQ(last[0]["type"], "tool_result");
  EXPECT_EQ(last[1]["text"], "use the other file");
}

TEST_F(SessionsTest, OnlyTheAgentsOwnModelsCanBeChosen) {
  Grant({"obey", "instant"});
  Prompt prompt = Say("hi");
  prompt.model = "up/tokens:5";
  const auto refused = Submit(prompt);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_NE(refused.error().message.find("up/obey, up/instant"), std::string::npos) << refused.error().message;
  prompt.model = "up/instant";
  prompt.thinking = llm::ThinkingLevel::kHigh;
  const auto accepted = Submit(prompt);
  ASSERT_TRUE(accepted);
  Eye& eye = NewEye();
  Follow(*accepted, eye);
  ASSERT_TRUE(Eventually([&] { return eye.Ended(accepted->prompt); }));
  EXPECT_EQ(eye.Of("model")[0].data["model"], "up/instant");
  EXPECT_EQ(Show(accepted->session)["thinkingLevel"], "high");
}

TEST_F(SessionsTest, AnotherModelAnswersInThePlaceOfOneThatFails) {
  Grant({"overload", "obey"});
  Talk("hi");
  EXPECT_EQ(eye().Of("model").size(), 1u);
  EXPECT_EQ(eye().Of("model")[0].data["model"], "up/obey");
}

TEST_F(SessionsTest, ABrokenCallIsToldAndNeverRun) {
  Grant({"badtool"});
  const Accepted accepted = Talk("go");
  EXPECT_EQ(eye().Of("error")[0].data["code"], "protocol");
  core_->On([&] { EXPECT_TRUE(calls_->started.empty()); });
  EXPECT_NE(LastBody().dump().find("Your call of exec was not run"), std::string::npos);
  Grant({"obey"});
  Talk("and now", accepted.session);
  EXPECT_NE(Answer().find("and now"), std::string::npos);
}

TEST_F(SessionsTest, AWatcherThatComesBackMissesNothing) {
  Grant({"obey"});
  const Accepted first = Talk("one");
  const std::string middle = eye().All()[2].id;
  Eye& late = NewEye();
  ASSERT_TRUE(Get<WatchId>([&](Done<WatchId> done) { sessions_->Watch(Agent(), first.session, middle, &late, std::move(done)); }));
  ASSERT_EQ(late.All().size(), eye().All().size() - 3);
  EXPECT_EQ(late.All()[0].id, eye().All()[3].id);
  Eye& stranger = NewEye();
  const auto bad = Get<WatchId>([&](Done<WatchId> done) { sessions_->Watch(Agent(), first.session, "yesterday", &stranger, std::move(done)); });
  EXPECT_FALSE(bad);
}

TEST_F(SessionsTest, ManyWaitingPromptsAreRefusedNotKept) {
  Grant({"hang"});
  const auto first = Submit(Say("0"));
  ASSERT_TRUE(first);
  Result<Accepted> last = first;
  for (int i = 0; i < 20 && last; ++i) last = Submit(Say("more", first->session));
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, Code::kExhausted);
}
}  // namespace
}  // namespace beige::sessions
