// How turns end that do not end by themselves.
#include "base/files.h"
#include "tests/gateway/sessions/sessions_fixture.h"

namespace beige::sessions {
namespace {
using nlohmann::json;
using testing::Eventually;

class EndingsTest : public SessionsTest {
 protected:
  Result<> Abort(const std::string& session, const std::string& prompt = "") {
    return Get<void>([&](Done<> done) { sessions_->Abort(Agent(), session, prompt, std::move(done)); });
  }
};

TEST_F(EndingsTest, AnAbortedAnswerIsKeptAsFarAsItWentAndTheProviderIsToldAtOnce) {
  Grant({"paced:20"});
  Eye& eye = NewEye();
  const Accepted accepted = Begin("talk", eye);
  ASSERT_TRUE(Eventually([&] { return eye.Of("text").size() >= 3; }));
  ASSERT_TRUE(Abort(accepted.session));
  EXPECT_TRUE(eye.Ended(accepted.prompt));
  EXPECT_EQ(eye.Of("aborted").size(), 1u);
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(Eventually([&] { return upstream_->Stats()["open"] == 0; }));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(1));
  const std::string said = eye.Text();
  Grant({"obey"});
  Talk("go on", accepted.session);
  EXPECT_EQ(LastBody()["messages"][1]["content"][0]["text"], said);
  EXPECT_TRUE(AuditHas(R"("outcome":"cancelled")"));
}

TEST_F(EndingsTest, AbortEndsWhatRunsInTheSandbox) {
  Grant({"obey"});
  const Accepted accepted = BeginCall(NewEye());
  ASSERT_TRUE(Abort(accepted.session, accepted.prompt));
  core_->On([&] { EXPECT_EQ(calls_->cancelled, std::vector<std::string>{"wait"}); });
  Talk("what now", accepted.session);
  EXPECT_NE(LastBody()["messages"][2].dump().find("aborted by the user"), std::string::npos);
}

TEST_F(EndingsTest, APromptThatWaitsCanBeTakenBackAlone) {
  Grant({"paced:20"});
  Eye& eye = NewEye();
  const Accepted first = Begin("talk", eye);
  const auto second = Submit(Say("not this", first.session));
  ASSERT_TRUE(second);
  ASSERT_TRUE(Abort(first.session, second->prompt));
  EXPECT_TRUE(eye.Ended(second->prompt));
  EXPECT_FALSE(eye.Ended(first.prompt));
  const auto again = Abort(first.session, second->prompt);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kNotFound);
  ASSERT_TRUE(Abort(first.session));
}

TEST_F(EndingsTest, AnAnswerThatBreaksEndsWithOneErrorAndIsKept) {
  Grant({"cut"});
  const Accepted accepted = Talk("hi");
  EXPECT_EQ(eye().Names(), "turn model text usage error");
  EXPECT_EQ(eye().Of("error")[0].data["code"], "network");
  Grant({"obey"});
  Talk("again", accepted.session);
  EXPECT_EQ(LastBody()["messages"][1]["content"][0]["text"], "ok");
}

TEST_F(EndingsTest, ALimitAtTheBeginningIsSaidAtOnceWithItsTime) {
  Grant({"r429:7"});
  const auto began = std::chrono::steady_clock::now();
  Talk("hi");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(3));
  const json error = eye().Of("error")[0].data;
  EXPECT_EQ(error["code"], "rate_limit");
  EXPECT_GT(error["retryAfterMs"], 5000);
  Talk("hi");
  EXPECT_EQ(eye().Of("error")[0].data["code"], "cooling");
}

TEST_F(EndingsTest, ALimitInTheMiddleOfATurnIsWaitedForAndNothingIsDoneTwice) {
  Grant({"tired:2"});
  Talk(R"(CALL exec {"command":"once"})");
  EXPECT_EQ(eye().Of("waiting").size(), 2u) << eye().Names();
  EXPECT_EQ(eye().Of("done").size(), 1u);
  core_->On([&] { EXPECT_EQ(calls_->started.size(), 1u); });
}

TEST_F(EndingsTest, AConversationThatIsTooLongIsSaidShorterAndGoesOn) {
  Grant({"window:9000"});
  const Accepted accepted = Talk(std::string(3000, 'a'));
  Talk("the last word", accepted.session);
  Talk(std::string(3500, 'b'), accepted.session);
  EXPECT_EQ(eye().Of("compacted").size(), 1u) << eye().Names();
  EXPECT_EQ(eye().Of("done").size(), 1u);
  const json messages = LastBody()["messages"];
  EXPECT_NE(messages[0].dump().find("what was said, in short"), std::string::npos);
  EXPECT_EQ(LastBody().dump().find(std::string(3000, 'a')), std::string::npos);
  // What people read is whole.
  EXPECT_NE(Show(accepted.session).dump().find(std::string(3000, 'a')), std::string::npos);
}

TEST_F(EndingsTest, AboveTheThresholdASummaryIsMadeBeforeTheModelRefuses) {
  Grant({"obey"});
  core_->config.llm.providers["up"].models["obey"].context_window = 2000;  // tokens
  Grant({"obey"});
  const Accepted accepted = Talk(std::string(4000, 'a'));
  EXPECT_TRUE(eye().Of("compacted").empty());
  Talk(std::string(8000, 'b'), accepted.session);
  EXPECT_EQ(eye().Of("compacted").size(), 1u) << eye().Names();
}

TEST_F(EndingsTest, CompactionByHandIsRefusedWhileATurnRuns) {
  Grant({"obey"});
  const Accepted first = Talk("one");
  Talk("two", first.session);
  const auto compact = [&] { return Get<void>([&](Done<> done) { sessions_->Compact(Agent(), first.session, "local", std::move(done)); }); };
  BeginCall(NewEye(), first.session);
  const auto busy = compact();
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, Code::kConflict);
  ASSERT_TRUE(Abort(first.session));
  ASSERT_TRUE(compact());
  Talk("three", first.session);
  EXPECT_NE(LastBody()["messages"][0].dump().find("in short"), std::string::npos);
}

TEST_F(EndingsTest, AnAgentWithoutAModelOrSuspendedSaysSo) {
  Grant({});
  const auto none = Submit(Say("hi"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kDenied);
  EXPECT_NE(none.error().message.find("spec.model.choices"), std::string::npos);
  Prompt nobody = Say("hi");
  nobody.agent.uid = "another";
  EXPECT_EQ(Submit(nobody).error().code, Code::kNotFound);
}

TEST_F(EndingsTest, ARemovedAgentsConversationsEnd) {
  Grant({"paced:50"});
  Eye& eye = NewEye();
  const Accepted accepted = Begin("talk", eye);
  ASSERT_TRUE(Eventually([&] { return !eye.Of("text").empty(); }));
  ASSERT_TRUE(core_->On([&] { return core_->roster().Remove(Agent().uid); }));
  EXPECT_TRUE(eye.Closed());
  EXPECT_TRUE(eye.Ended(accepted.prompt));
  EXPECT_TRUE(Eventually([&] { return upstream_->Stats()["open"] == 0; }));
}

// What can't be recorded is not done.
TEST_F(EndingsTest, NothingRunsWhenTheSessionCanNotBeWritten) {
  Grant({"obey"});
  Eye& eye = NewEye();
  const Accepted accepted = BeginCall(eye);
  ASSERT_TRUE(RemoveFile(File(accepted.session)));
  core_->On([&] { calls_->Finish("wait", {"x"}); });
  ASSERT_TRUE(Eventually([&] { return eye.Ended(accepted.prompt); }));
  EXPECT_EQ(eye.Of("error")[0].data["code"], "internal");
  EXPECT_EQ(upstream_->Stats()["requests"].size(), 1u);
}
}  // namespace
}  // namespace beige::sessions
