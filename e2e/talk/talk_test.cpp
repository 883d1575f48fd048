// An agent that thinks: a scripted provider, the shipped gateway, a real sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <random>
#include <set>
#include <thread>

#include "base/files.h"
#include "e2e/talk/talk_home.h"

namespace beige::e2e {
namespace {
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class TalkTest : public TalkHome {};

TEST_F(TalkTest, TheModelWritesReadsPatchesAndRunsInTheSandbox) {
  const Said said = Say({{"text", Call("write", {{"path", "notes/a.txt"}, {"content", "one\ntwo\n"}})}});
  ASSERT_EQ(said.Of("result").size(), 1u) << said.error;
  EXPECT_FALSE(said.Of("result")[0]["error"]) << said.Of("result")[0];
  const std::string& session = said.session;
  EXPECT_THAT(Say({{"session", session}, {"text", Call("patch", {{"path", "notes/a.txt"}, {"oldText", "two"}, {"newText", "three"}})}}).Of("result")[0].dump(), HasSubstr("+three"));
  EXPECT_THAT(Say({{"session", session}, {"text", Call("read", {{"path", "/workspace/notes/a.txt"}})}}).text, HasSubstr("one\nthree"));
  const Said ran = Say({{"session", session}, {"text", Call("exec", {{"command", "cat notes/a.txt; id -u; exit 3"}})}});
  EXPECT_THAT(ran.text, HasSubstr("three"));
  EXPECT_THAT(ran.text, HasSubstr("3"));
  EXPECT_THAT(home_->Sh("a1", "cat /workspace/notes/a.txt").out, HasSubstr("three"));
}

TEST_F(TalkTest, AToolIsCalledByNameAndAsACommand) {
  EXPECT_THAT(Say({{"text", Call("kv", {{"args", {"get", "x"}}, {"stdin", "in"}})}}).text, HasSubstr("kv get x in"));
  EXPECT_THAT(Say({{"text", Call("exec", {{"command", "echo in | kv set y | tr a-z A-Z"}})}}).text, HasSubstr("KV SET Y IN"));
}

TEST_F(TalkTest, WhatTheAgentDoesNotHaveIsDeniedToItsModelAndAudited) {
  const Said said = Say({{"text", Call("exec", {{"command", "touch /workspace/made"}})}}, "a2");
  ASSERT_EQ(said.Of("result").size(), 1u) << said.error;
  EXPECT_TRUE(said.Of("result")[0]["error"]);
  EXPECT_THAT(said.Of("result")[0].dump(), HasSubstr("denied"));
  EXPECT_NE(home_->Sh("a2", "test -e /workspace/made").status, 0);
  bool audited = false;
  for (const json& record : home_->Audit()) {
    audited = audited || (record["agent"] == "a2" && record.value("kind", "") == "core_tool" && record.value("decision", "") == "deny" && record.value("session", "") == said.session);
  }
  EXPECT_TRUE(audited);
  EXPECT_TRUE(Say({{"text", Call("nosuch", json::object())}}).Of("result")[0]["error"]);
}

TEST_F(TalkTest, AgentsMdOfTheWorkspaceIsToldAndAFifoInItsPlaceHoldsNobodyUp) {
  ASSERT_EQ(home_->Sh("a1", "echo 'Use tabs.' > /workspace/AGENTS.md").status, 0);
  Say({{"text", "hi"}});
  EXPECT_THAT(upstream_->Stats()["requests"].back()["body"]["system"].dump(), HasSubstr("Use tabs."));
  ASSERT_EQ(home_->Sh("a1", "rm /workspace/AGENTS.md && mkfifo /workspace/AGENTS.md").status, 0);
  EXPECT_EQ(Say({{"text", "hi"}}).text, "you said: hi");
  ASSERT_EQ(home_->Sh("a1", "rm /workspace/AGENTS.md && ln -s /proc/1/environ /workspace/AGENTS.md").status, 0);
  EXPECT_EQ(Say({{"text", "hi"}}).text, "you said: hi");
  ASSERT_EQ(home_->Sh("a1", "rm /workspace/AGENTS.md").status, 0);
}

TEST_F(TalkTest, TheKeyIsNowhere) {
  Say({{"text", Call("exec", {{"command", "env; cat /proc/*/environ; grep -rs sk-cana''ry /etc /tmp /workspace /beige /tools /skills"}})}});
  const Outcome found = RunProgram({"grep", "-rl", "sk-canary", home_->path(), "--include=*.jsonl", "--include=*.log", "--include=*.json"});
  EXPECT_EQ(found.out, "");
  EXPECT_THAT(Show(Say({{"text", "x"}}).session).dump(), Not(HasSubstr("sk-canary")));
}

// Turns with a call each that leaves one mark in the sandbox, and the gateway killed at random moments of the first: every prompt that was
// accepted is on record, and no mark is made twice. 30 turns and 20 deaths with BEIGE_TEST_LONG.
TEST_F(TalkTest, AConversationSurvivesTheGatewaysDeath) {
  std::mt19937 random(20261130);
  ASSERT_EQ(home_->Sh("a1", "rm -f /workspace/marks").status, 0);
  std::string session = Say({{"text", "start"}}).session;
  ASSERT_FALSE(session.empty());
  const bool all = std::getenv("BEIGE_TEST_LONG") != nullptr;
  const int turns = all ? 30 : 6;
  const int deaths = all ? 20 : 4;
  std::vector<std::string> accepted, finished;
  for (int turn = 0; turn < turns; ++turn) {
    const std::string mark = "mark" + std::to_string(turn) + ".";
    std::thread killer;
    if (turn < deaths) {
      const pid_t pid = home_->Pid("gateway");
      killer = std::thread([pid, wait = std::uniform_int_distribution<int>(0, 30)(random)] {
        std::this_thread::sleep_for(milliseconds(wait));
        ::kill(pid, SIGKILL);
      });
    }
    const Said said = Say({{"session", session}, {"text", Call("exec", {{"command", "echo " + mark + " >> /workspace/marks"}})}});
    const pid_t before = home_->Pid("gateway");
    if (killer.joinable()) killer.join();
    AwaitGateway(before);
    if (!said.Of("accepted").empty()) accepted.push_back(mark);
    // A model that was told of a call's end at the same time as of this prompt makes no call.
    if (said.Of("result").size() == 1 && !said.Of("result")[0]["error"]) finished.push_back(mark);
  }
  const json shown = Show(session);
  ASSERT_TRUE(shown.contains("messages")) << shown;
  const std::string record = shown["messages"].dump();
  for (const std::string& mark : accepted) EXPECT_THAT(record, HasSubstr(mark));
  const std::string marks = home_->Sh("a1", "sort /workspace/marks | uniq -d").out;
  EXPECT_EQ(marks, "") << "done twice";
  const std::string made = home_->Sh("a1", "cat /workspace/marks").out;
  for (const std::string& mark : finished) EXPECT_THAT(made, HasSubstr(mark));
  EXPECT_GE(finished.size(), static_cast<size_t>(all ? 10 : 2));
  // It goes on, and the model is told of every turn.
  const Said after = Say({{"session", session}, {"text", "are you there"}});
  EXPECT_EQ(after.text, "you said: are you there") << after.error;
  // No call without its result in what the model is told.
  std::set<std::string> open;
  for (const json& message : upstream_->Stats()["requests"].back()["body"]["messages"]) {
    for (const json& block : message["content"]) {
      if (block["type"] == "tool_use") open.insert(block["id"]);
      if (block["type"] == "tool_result") open.erase(block["tool_use_id"]);
    }
  }
  EXPECT_TRUE(open.empty());
}

// One runs and two wait when the gateway dies: what was said with `detach` is done once, when the sandbox is back, and nobody asks for it.
TEST_F(TalkTest, DetachedPromptsAreDoneOnceAfterTheGatewaysDeath) {
  ASSERT_EQ(home_->Sh("a1", "rm -f /workspace/marks").status, 0);
  const std::string session = Say({{"text", Call("exec", {{"command", "sleep 3; echo first >> /workspace/marks"}})}, {"detach", true}}, "a1", 1).session;
  ASSERT_FALSE(session.empty());
  Say({{"session", session}, {"text", Call("exec", {{"command", "echo second >> /workspace/marks"}})}, {"detach", true}}, "a1", 1);
  KillGateway();
  const auto ends = [&] {
    const std::string text = File(session);
    size_t count = 0;
    for (size_t at = 0; (at = text.find("\"type\":\"end\"", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  ASSERT_TRUE(Eventually([&] { return ends() == 2; })) << File(session);
  const std::string marks = home_->Sh("a1", "cat /workspace/marks").out;
  EXPECT_THAT(marks, HasSubstr("second\n"));
  EXPECT_EQ(marks.find("second"), marks.rfind("second"));
  EXPECT_EQ(marks.find("first"), marks.rfind("first"));
  // The call that ran is not run again; the turn went on with what is known of it.
  EXPECT_THAT(Show(session).dump(), HasSubstr("interrupted: the gateway stopped while this ran"));
  KillGateway();
  std::this_thread::sleep_for(milliseconds(2500));
  EXPECT_EQ(ends(), 2u);
}

TEST_F(TalkTest, WhatWasSaidOfAnAnswerIsThereAfterTheGatewaysDeath) {
  const std::string session = Say({{"text", "start"}}).session;
  std::thread client([&] { Say({{"session", session}, {"text", "count"}, {"model", "up/paced:20"}}); });
  EXPECT_TRUE(Eventually([&] { return File(session).find("\"type\":\"partial\"") != std::string::npos; }));
  KillGateway();
  client.join();
  const Outcome shown = home_->Beige({"sessions", "show", "a1", session});
  EXPECT_THAT(shown.out, HasSubstr("tok0 tok1 tok2 "));
  EXPECT_THAT(shown.out, Not(HasSubstr("tok99")));
  EXPECT_THAT(shown.out, HasSubstr("(not finished: interrupted)"));
}

TEST_F(TalkTest, ARemovedAgentsSessionsGoToTheTrashAndTheNextOfThatNameHasNone) {
  const std::string spec = "model: {choices: [{name: up/obey}]}\n";
  home_->AddAgent("a3", spec);
  ASSERT_EQ(home_->Beige({"prompt", "a3", "a secret"}).status, 0);
  const std::string directory = home_->path() + "/sessions/default/a3";
  ASSERT_TRUE(Exists(directory));
  ASSERT_EQ(home_->Beige({"delete", "agent", "a3"}).status, 0);
  ASSERT_TRUE(Eventually([&] { return !Exists(directory); }));
  EXPECT_THAT(RunProgram({"grep", "-rl", "a secret", home_->path() + "/sessions/.trash"}).out, HasSubstr("Z-default-a3/"));
  home_->AddAgent("a3", spec);
  Outcome listed;
  ASSERT_TRUE(Eventually([&] { return (listed = home_->Beige({"sessions", "a3", "-o", "json"})).status == 0; })) << listed.err;
  EXPECT_EQ(json::parse(listed.out)["items"].size(), 0u) << listed.out;
  EXPECT_EQ(home_->Beige({"prompt", "a3", "hello"}).out, "you said: hello\n");
}
}  // namespace
}  // namespace beige::e2e
