// Models, disks and moments that would leave a conversation in pieces. The script refuses whatever a real provider would (rules.py), so a
// turn that is done proves that what was sent is a conversation.
#include <unistd.h>

#include "base/files.h"
#include "tests/gateway/sessions/sessions_fixture.h"

namespace beige::sessions {
namespace {
using nlohmann::json;
using testing::Eventually;

class HostileTest : public SessionsTest {
 protected:
  Result<> Abort(const std::string& session) {
    return Get<void>([&](Done<> done) { sessions_->Abort(Agent(), session, "", std::move(done)); });
  }
  // A turn whose calls, of commands that never end, all run.
  Accepted Hang(const std::string& text, size_t calls, Eye& eye) {
    core_->On([&] {
      for (const char* command : {"one", "two"}) calls_->script[command] = {.hang = true};
    });
    const auto accepted = Submit(Say(text));
    EXPECT_TRUE(accepted) << accepted.error().message;
    if (!accepted) return {};
    Follow(*accepted, eye);
    EXPECT_TRUE(Eventually([&] { return core_->On([&] { return calls_->started.size(); }) == calls; }));
    return *accepted;
  }
  void ExpectGoesOn(const std::string& session) {
    Talk("and now", session);
    EXPECT_EQ(eye().Of("done").size(), 1u) << eye().Names() << upstream_->Stats()["broken"].dump();
    EXPECT_EQ(upstream_->Stats()["broken"], json::array());
  }
  size_t Records(const std::string& session, const std::string& type) {
    const std::string file = ReadFile(File(session)).value_or("");
    const std::string wanted = "\"type\":\"" + type + "\",";
    size_t n = 0;
    for (size_t at = 0; (at = file.find(wanted, at)) != std::string::npos; ++at) ++n;
    return n;
  }
};
constexpr const char* kTwo = "SAY I will look.\nCALL exec {\"command\":\"one\"}\nCALL exec {\"command\":\"two\"}";

TEST_F(HostileTest, AnAbortWhileToolsRunKeepsOneAnswerAndGivesEachCallItsResult) {
  Grant({"obey"});
  Eye& eye = NewEye();
  const Accepted accepted = Hang(kTwo, 2, eye);
  ASSERT_TRUE(Abort(accepted.session));
  EXPECT_EQ(Records(accepted.session, "answer"), 1u);
  EXPECT_EQ(Records(accepted.session, "result"), 2u);
  EXPECT_EQ(Show(accepted.session)["usage"]["input"], 10);
  ExpectGoesOn(accepted.session);
}

// As a slow reader's prompt is taken back: by the event that could not be sent.
class AbortsAt final : public Watcher {
 public:
  std::function<void()> abort;
  void OnEvent(const Event& event) override {
    if (event.name == "call" && abort) std::exchange(abort, nullptr)();
  }
  void OnClosed(const Error&) override {}
};

TEST_F(HostileTest, AnAbortFromWithinTheEventOfACallLeavesNoCallWithoutResult) {
  Grant({"obey"});
  AbortsAt watcher;
  const auto accepted = Submit(Say(kTwo));
  ASSERT_TRUE(accepted);
  watcher.abort = [&] { sessions_->Abort(Agent(), accepted->session, "", [](const Result<>&) {}); };
  const auto watch = Get<WatchId>([&](Done<WatchId> done) { sessions_->Watch(Agent(), accepted->session, accepted->after, &watcher, std::move(done)); });
  ASSERT_TRUE(watch);
  ASSERT_TRUE(Eventually([&] { return Records(accepted->session, "end") == 1; }));
  core_->On([&] {
    sessions_->Unwatch(*watch);
    EXPECT_TRUE(calls_->started.empty());
  });
  EXPECT_EQ(Records(accepted->session, "result"), 2u);
  ExpectGoesOn(accepted->session);
}

TEST_F(HostileTest, CallsThatCanNotBeRunAreSaidAndTheOthersRun) {
  Grant({"obey"});
  const std::string deep = std::string(60'000, '[') + std::string(60'000, ']');
  const Accepted accepted = Talk("SAY a\nCALL functions.exec<|x|> {\"command\":\"no\"}\nCALL exec {\"command\":\"yes\"}\nCALL exec {\"x\":" + deep + "}\nCALL " +
                                 std::string(5000, 'n') + " {}");
  EXPECT_EQ(eye().Of("done").size(), 1u) << eye().Names() << upstream_->Stats()["broken"].dump();
  core_->On([&] { EXPECT_EQ(calls_->started.size(), 1u); });
  const std::string told = LastBody()["messages"].back().dump();
  EXPECT_NE(told.find("a tool's name has 1 to 64"), std::string::npos) << told;
  EXPECT_NE(told.find("nested deeper"), std::string::npos) << told;
  EXPECT_LT(told.size(), 4000u);
  ExpectGoesOn(accepted.session);
  Restart();
  Grant({"obey"});
  ExpectGoesOn(accepted.session);
}

TEST_F(HostileTest, ATextWithoutAnythingVisibleIsNotSent) {
  Grant({"obey"});
  Prompt prompt = Say("  \n");
  prompt.images = {{"image/png", "\x89PNG"}};
  Talk(prompt);
  EXPECT_EQ(upstream_->Stats()["broken"], json::array());
  // The model takes only text, as its configuration says by not saying otherwise.
  EXPECT_NE(LastBody().dump().find("which this model can't see"), std::string::npos);
  EXPECT_EQ(LastBody().dump().find("base64"), std::string::npos);
}

TEST_F(HostileTest, APictureThatTheProviderRefusesDoesNotEndTheConversation) {
  Grant({"obey"});
  core_->config.llm.providers["up"].models["obey"].images = true;
  Grant({"obey"});
  Prompt prompt = Say("look");
  prompt.images = {{"image/png", "\x89PNG"}};
  const Accepted accepted = Talk(prompt);
  EXPECT_EQ(eye().Of("done").size(), 1u) << eye().Names();
  EXPECT_EQ(upstream_->Stats()["broken"], json::array({"Could not process image"}));
  EXPECT_NE(LastBody().dump().find("which the provider refused"), std::string::npos);
  Restart();
  Grant({"obey"});
  Talk("and now", accepted.session);
  EXPECT_EQ(upstream_->Stats()["broken"].size(), 1u);
}

TEST_F(HostileTest, LongArgumentsAreShownShortAndRunWhole) {
  Grant({"obey"});
  const std::string content(200'000, 'c');
  Talk("CALL write {\"path\":\"a\",\"content\":\"" + content + "\"}");
  const json call = eye().Of("call").at(0).data;
  EXPECT_EQ(call["arguments"]["path"], "a");
  EXPECT_LT(call.dump().size(), 20'000u);
  EXPECT_GT(call["bytes"], 200'000);
  core_->On([&] { EXPECT_EQ(calls_->started.size(), 1u); });
}

TEST_F(HostileTest, WhenTheFileIsGoneAllWhoWaitAreToldOnceAndNothingSpins) {
  Grant({"obey"});
  Eye& eye = NewEye();
  const Accepted first = Hang(kTwo, 2, eye);
  const auto second = Submit(Say("later", first.session));
  ASSERT_TRUE(second);
  ASSERT_EQ(::unlink(File(first.session).c_str()), 0);
  ASSERT_FALSE(Submit(Say("and another", first.session)));
  core_->On([&] { calls_->Finish("one", {"x"}); });
  ASSERT_TRUE(Eventually([&] { return eye.Ended(first.prompt) && eye.Ended(second->prompt); }));
  const size_t seen = eye.All().size();
  for (int i = 0; i < 50; ++i) core_->On([] {});
  EXPECT_EQ(eye.All().size(), seen);
  core_->On([&] { EXPECT_EQ(calls_->cancelled, std::vector<std::string>{"two"}); });
}

TEST_F(HostileTest, AnAbortThatCanNotBeWrittenStillEndsWhatRuns) {
  Grant({"obey"});
  Eye& eye = NewEye();
  const Accepted accepted = Hang(kTwo, 2, eye);
  ASSERT_EQ(::unlink(File(accepted.session).c_str()), 0);
  EXPECT_TRUE(Abort(accepted.session));
  EXPECT_TRUE(eye.Ended(accepted.prompt));
  core_->On([&] { EXPECT_EQ(calls_->cancelled.size(), 2u); });
  core_->On([&] { calls_->Finish("one", {"too late"}); });
}

TEST_F(HostileTest, WhatAnAbortedAnswerCostIsInTheSessionAsInTheMetrics) {
  Grant({"paced:20"});
  Eye& eye = NewEye();
  const auto accepted = Submit(Say("talk"));
  ASSERT_TRUE(accepted);
  Follow(*accepted, eye);
  ASSERT_TRUE(Eventually([&] { return eye.Of("text").size() >= 3; }));
  ASSERT_TRUE(Abort(accepted->session));
  EXPECT_EQ(Show(accepted->session)["usage"]["input"], 10);
  EXPECT_NE(core_->metrics().Render().find(R"(beige_llm_tokens_total{agent="a1",kind="input",model="paced:20",namespace="default",provider="up"} 10)"), std::string::npos)
      << core_->metrics().Render();
}

TEST_F(HostileTest, ARefusedPromptLeavesNoSessionBehind) {
  Grant({"obey"});
  Prompt prompt = Say("hi");
  prompt.model = "up/other";
  ASSERT_FALSE(Submit(prompt));
  const auto list = Get<std::vector<Summary>>([&](Done<std::vector<Summary>> done) { sessions_->List(Agent(), std::move(done)); });
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->empty());
}

TEST_F(HostileTest, AFixedIdIsNotLostToWhatLiesInItsPlace) {
  Grant({"obey"});
  ASSERT_TRUE(MakeDirs(core_->paths().SessionsDir(Agent().key()), 0700));
  for (const char* there : {"", "{\"n\":0,\"type\":\"session\",\"id\":\"key-1\",\"agentUid\":\"another\"}\n"}) {
    ASSERT_TRUE(WriteFileAtomic(File("key-1"), there, 0600));
    Prompt prompt = Say("hi", "key-1");
    prompt.make = true;
    Talk(prompt);
    Restart();
    Grant({"obey"});
  }
}

TEST_F(HostileTest, ASessionThatHasGrownTooLargeTakesNothingMoreAndCanBeDeleted) {
  Grant({"obey"});
  const Accepted accepted = Talk("hi");
  Restart();
  Grant({"obey"});
  ASSERT_EQ(::truncate(File(accepted.session).c_str(), (int64_t{1} << 30) + 4096), 0);
  const auto removed = Get<void>([&](Done<> done) { sessions_->Delete(Agent(), accepted.session, std::move(done)); });
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(Exists(File(accepted.session)));
}
}  // namespace
}  // namespace beige::sessions
