// Prompts that nobody waits for, over the end of a gateway.
#include "base/files.h"
#include "gateway/sessions/log_file.h"
#include "tests/gateway/core/sandbox.h"
#include "tests/gateway/sessions/sessions_fixture.h"

namespace beige::sessions {
namespace {
using nlohmann::json;
using testing::Eventually;

class DetachedTest : public SessionsTest {
 protected:
  static Said Detached(const std::string& prompt, const std::string& text) { return {prompt, "local", text, {}, false, true}; }
  static Answered Calls(const std::string& id) {
    Answered answer;
    answer.message.parts = {llm::ToolCall{id, "exec", R"({"command":"rm"})", "", std::nullopt}};
    return answer;
  }
  size_t Asked() const { return upstream_->Stats()["requests"].size(); }
  bool Marked(const std::string& session) const { return Exists(File(session) + std::string(kMark)); }
  // The ends of turns that stand in the file, without opening the session.
  std::vector<TurnEnded> Ends(const std::string& session) const {
    std::vector<TurnEnded> out;
    const std::string text = ReadFile(File(session)).value_or("");
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const auto line = DecodeLine(std::string_view(text).substr(at, text.find('\n', at) - at));
      if (const auto* end = line ? std::get_if<TurnEnded>(&line->record) : nullptr) out.push_back(*end);
    }
    return out;
  }
  bool Done(const std::string& session) const {
    return Eventually([&] { return !Ends(session).empty() && Ends(session).back().outcome == "done" && !Marked(session); });
  }
  // Longer than a tick of what looks for them: nothing came of it.
  static void Wait() { std::this_thread::sleep_for(std::chrono::milliseconds(1300)); }
};

TEST_F(DetachedTest, WhoDidNotWaitIsAnsweredAfterARestartAndWhoLeftIsNot) {
  Leave("waits", {First("waits"), Said{"p1", "local", "gone", {}}, Detached("p2", "still wanted")});
  Leave("old", {First("old"), Said{"p1", "local", "gone", {}}});
  Restart();
  Grant({"obey"}, {});
  ASSERT_TRUE(Done("waits"));
  EXPECT_EQ(Asked(), 1u);
  EXPECT_EQ(LastBody()["messages"].size(), 1u);
  EXPECT_EQ(LastBody()["messages"][0]["content"][0]["text"], "still wanted");
  Restart();
  Grant({"obey"}, {});
  Wait();
  EXPECT_EQ(Asked(), 1u) << "never twice";
}

TEST_F(DetachedTest, ItWaitsForTheAgentsGrantAndForItsSandbox) {
  Leave("waits", {First("waits"), Detached("p1", "first"), Detached("p2", "second")});
  Restart();
  Wait();
  Grant({"obey"});
  Wait();
  EXPECT_EQ(Asked(), 0u);
  EXPECT_EQ(Show("waits")["queued"], 2) << "opened by somebody who looks, still held";
  Wait();
  EXPECT_EQ(Asked(), 0u);
  // Who is there and speaks is not held up by it.
  Talk("hello", "waits");
  EXPECT_EQ(Answer(), "you said: hello");
  ASSERT_TRUE(core_->On([&] { return core_->roster().Announce(Agent().uid, "i1").has_value(); }));
  const testing::Sandbox sandbox(core_->paths(), Agent().uid, "i1");
  ASSERT_TRUE(Eventually([&] { return Ends("waits").size() == 3; }));
  EXPECT_EQ(LastBody()["messages"].back()["content"][0]["text"], "second");
  EXPECT_TRUE(Eventually([&] { return !Marked("waits"); }));
}

TEST_F(DetachedTest, ATurnThatWasInterruptedGoesOnOnceAndDoesNothingTwice) {
  Leave("runs", {First("runs"), Detached("p1", "clean up"), TurnBegun{"p1", 1}, Calls("call_1")});
  Leave("again", {First("again"), Detached("p1", "clean up"), TurnBegun{"p1", 1}, TurnBegun{"p1", 1}});
  Restart();
  Grant({"obey"}, {});
  ASSERT_TRUE(Done("runs"));
  core_->On([&] { EXPECT_TRUE(calls_->started.empty()); });
  const json shown = Show("runs");
  EXPECT_EQ(shown["turns"], 1);
  EXPECT_NE(shown.dump().find("interrupted: the gateway stopped while this ran"), std::string::npos);
  ASSERT_TRUE(Eventually([&] { return !Marked("again"); }));
  ASSERT_EQ(Ends("again").size(), 1u);
  EXPECT_EQ(Ends("again")[0].code, "interrupted");
  EXPECT_EQ(Asked(), 1u);
}

TEST_F(DetachedTest, AnAnswerThatWasCutIsGoneOnWith) {
  Leave("cut", {First("cut"), Detached("p1", "tell me"), TurnBegun{"p1", 1}, Partial{"up/obey", 1, "It was"}});
  Restart();
  Grant({"obey"}, {});
  ASSERT_TRUE(Done("cut"));
  EXPECT_EQ(LastBody()["messages"][1]["content"][0]["text"], "It was");
  EXPECT_NE(LastBody()["messages"][2].dump().find("Go on with it."), std::string::npos);
}

TEST_F(DetachedTest, WhoSpeaksBeforeItGoesOnDecides) {
  Leave("runs", {First("runs"), Detached("p1", "clean up"), TurnBegun{"p1", 1}});
  Restart();
  Grant({"obey"});
  Talk("stop that", "runs");
  ASSERT_EQ(Ends("runs").size(), 2u);
  EXPECT_EQ(Ends("runs")[0].code, "interrupted");
  EXPECT_EQ(Show("runs")["turns"], 2);
  EXPECT_FALSE(Marked("runs"));
}

TEST_F(DetachedTest, WhatIsHeldCanBeTakenBack) {
  Leave("runs", {First("runs"), Detached("p1", "one"), TurnBegun{"p1", 1}, Detached("p2", "two")});
  Restart();
  Grant({"obey"});
  ASSERT_TRUE(Get<void>([&](sessions::Done<> done) { sessions_->Abort(Agent(), "runs", "", std::move(done)); }));
  ASSERT_EQ(Ends("runs").size(), 1u);
  EXPECT_EQ(Ends("runs")[0].outcome, "aborted");
  EXPECT_FALSE(Marked("runs"));
  EXPECT_EQ(Show("runs")["queued"], 0);
}

TEST_F(DetachedTest, AGatewayThatIsStoppedLeavesThemToTheNext) {
  Grant({"hang"}, {});
  Prompt first = Say("one");
  first.detach = true;
  const auto accepted = Submit(first);
  ASSERT_TRUE(accepted);
  Prompt second = Say("two", accepted->session);
  second.detach = true;
  ASSERT_TRUE(Submit(second));
  ASSERT_TRUE(Submit(Say("three", accepted->session)));
  ASSERT_TRUE(Eventually([&] { return Asked() == 1; }));
  Restart();
  Grant({"obey"}, {});
  ASSERT_TRUE(Eventually([&] { return Ends(accepted->session).size() == 2 && !Marked(accepted->session); }));
  Wait();
  EXPECT_EQ(Ends(accepted->session).size(), 2u);
  EXPECT_EQ(LastBody()["messages"].back()["content"][0]["text"], "two");
  EXPECT_EQ(Show(accepted->session)["turns"], 2);
}

TEST_F(DetachedTest, AMarkOfNothingGoes) {
  Leave("done", {First("done"), Detached("p1", "one"), TurnBegun{"p1", 1}, TurnEnded{"p1", "done", "end", "", "", 1, {}, "", ""}});
  Leave("lost", {First("lost"), Detached("p1", "one")});
  ASSERT_TRUE(RemoveFile(File("lost")));
  Restart();
  Grant({"obey"}, {});
  EXPECT_TRUE(Eventually([&] { return !Marked("done") && !Marked("lost"); }));
  EXPECT_EQ(Asked(), 0u);
}
}  // namespace
}  // namespace beige::sessions
