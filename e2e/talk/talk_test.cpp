// An agent that thinks: a scripted provider, the shipped gateway, a real sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include "e2e/home.h"
#include "tests/gateway/llm/upstream.h"

namespace beige::e2e {
namespace {
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct Said {
  std::string session, text, error;
  std::vector<std::pair<std::string, json>> events;
  int status = 0;  // of HTTP; 0 = the connection broke

  std::vector<json> Of(const std::string& name) const {
    std::vector<json> out;
    for (const auto& [event, data] : events) {
      if (event == name) out.push_back(data);
    }
    return out;
  }
};

class TalkTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    upstream_ = new llm::Upstream;
    home_ = new Home;
    home_->Configure(
        "tools: {kv: {path: ./tools/kv}}\n"
        "llm:\n  providers:\n    up: {api: anthropic-messages, baseUrl: \"http://127.0.0.1:" + std::to_string(upstream_->port()) +
        "\", apiKey: {file: ./up.key}, models: {obey: {}, instant: {}, \"paced:20\": {}}}\n");
    home_->WriteFile("up.key", "sk-canary-0123456789\n", 0600);
    home_->AddShellTool("kv", "echo \"kv $* $(cat)\"");
    home_->AddAgent("a1", "tools: [{name: kv}]\nmodel: {choices: [{name: up/obey}, {name: \"up/paced:20\"}]}\ninstructions: Be brief.\n");
    home_->AddAgent("a2", "coreTools: [{name: read}]\nmodel: {choices: [{name: up/obey}]}\n");
    home_->Up();
    home_->WaitReady("a1");
    home_->WaitReady("a2");
  }
  static void TearDownTestSuite() {
    delete home_;
    delete upstream_;
    home_ = nullptr;
    upstream_ = nullptr;
  }

  static Said Say(const json& body, const std::string& agent = "a1") {
    const Outcome answer = home_->Curl({"-sN", "-m", "60", "-w", "\n%{http_code}", "-H", "Authorization: Bearer " + home_->Token(), "-H", "Content-Type: application/json", "-d", body.dump(),
                                        home_->HttpBase() + "/v1/namespaces/default/agents/" + agent + "/prompt"});
    Said out;
    const size_t last = answer.out.rfind('\n');
    out.status = last == std::string::npos || answer.status != 0 ? 0 : std::atoi(answer.out.c_str() + last + 1);
    std::string name;
    size_t at = 0;
    while (at < answer.out.size()) {
      const size_t end = std::min(answer.out.find('\n', at), answer.out.size());
      const std::string line = answer.out.substr(at, end - at);
      at = end + 1;
      if (line.starts_with("event: ")) name = line.substr(7);
      if (!line.starts_with("data: ")) continue;
      const json data = json::parse(line.substr(6), nullptr, false);
      if (data.is_discarded()) continue;
      if (name == "accepted") out.session = data["session"];
      if (name == "text") out.text += data["text"];
      if (name == "error") out.error = data["message"];
      out.events.emplace_back(name, data);
    }
    if (out.events.empty()) out.error = answer.out + answer.err;
    return out;
  }
  static std::string Call(const std::string& name, const json& arguments) { return "CALL " + name + " " + arguments.dump(); }
  static json Show(const std::string& session) {
    const Outcome answer = home_->Curl({"-s", "-H", "Authorization: Bearer " + home_->Token(), home_->HttpBase() + "/v1/namespaces/default/agents/a1/sessions/" + session});
    return json::parse(answer.out, nullptr, false);
  }

  static Home* home_;
  static llm::Upstream* upstream_;
};
Home* TalkTest::home_ = nullptr;
llm::Upstream* TalkTest::upstream_ = nullptr;

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
    if (killer.joinable()) {
      const pid_t before = home_->Pid("gateway");
      killer.join();
      ASSERT_TRUE(Eventually([&] { return home_->Pid("gateway") != before || home_->Curl({"-sf", home_->HttpBase() + "/readyz"}).status == 0; }));
    }
    ASSERT_TRUE(Eventually([&] { return home_->Curl({"-sf", home_->HttpBase() + "/readyz"}).status == 0 && home_->Sh("a1", "true").status == 0; }));
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
}  // namespace
}  // namespace beige::e2e
