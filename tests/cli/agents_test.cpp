#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "home.h"

namespace beige::testing {
namespace {
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using nlohmann::json;

class AgentsTest : public ::testing::Test {
 protected:
  AgentsTest() {
    home_.Write("agents.d/a.yaml", AgentText("a1"));
    home_.WriteStatus(ReadyAgent("a1"));
  }
  json Get(const std::string& name) { return json::parse(home_.Beige({"get", "agents", name, "-o", "json"}).out, nullptr, false); }
  const Home home_;
};

TEST_F(AgentsTest, TableShowsWhatTheOperatorSaid) {
  const std::string out = home_.Beige({"get", "agents"}).out;
  EXPECT_THAT(out, MatchesRegex("NAME +READY +REASON +IMAGE +RESTARTS +AGE\na1 +True +RoundTripOK +localhost/beige-sandbox:0.1.0 +2 +[0-9]+[smhd]\n"));
  EXPECT_THAT(home_.Beige({"get", "agent", "a1", "-o", "wide"}).out, HasSubstr("beige-test-a1"));
}

TEST_F(AgentsTest, JsonIsOneObjectForANameAndItemsForAList) {
  const json one = Get("a1");
  EXPECT_EQ(one["metadata"]["name"], "a1");
  EXPECT_EQ(one["local"]["workspace"], home_.path() + "/agents/default/a1/workspace");
  EXPECT_EQ(one["local"]["socket"], home_.paths().GatewaySocket(one["metadata"]["uid"].get<std::string>()));
  EXPECT_EQ(one["local"]["source"], home_.path() + "/agents.d/a.yaml");
  const json list = json::parse(home_.Beige({"get", "agents", "-o", "json"}).out, nullptr, false);
  ASSERT_EQ(list["items"].size(), 1u);
  EXPECT_EQ(list["items"][0], one);
  EXPECT_THAT(home_.Beige({"get", "agents", "a1", "-o", "yaml"}).out, HasSubstr("\nkind: Agent\n"));
  const Home empty;
  EXPECT_EQ(json::parse(empty.Beige({"get", "agents", "-o", "json"}).out), json::parse(R"({"items": []})"));
}

TEST_F(AgentsTest, AnInvalidNewVersionShowsItsReasonWhileTheOldOneRuns) {
  Agent agent = ReadyAgent("a1");
  agent.status.conditions[0] = {"Accepted", Truth::kFalse, "UnknownField", "spec.pidLimit: did you mean", "2026-11-29T12:00:03.000Z", 1};
  home_.WriteStatus(agent);
  home_.Write("agents.d/a.yaml", AgentText("a1", "  pidLimit: 3\n"));
  EXPECT_THAT(home_.Beige({"get", "agents"}).out, HasSubstr("True    UnknownField"));
  EXPECT_EQ(Get("a1")["spec"]["description"], "Of the tests");
}

TEST_F(AgentsTest, AnAgentThatTheOperatorHasNotSeenIsPending) {
  home_.Write("agents.d/b.yaml", AgentText("b1") + "---\n" + AgentText("b2", "  pidLimit: 3\n"));
  const std::string out = home_.Beige({"get", "agents"}).out;
  EXPECT_THAT(out, HasSubstr("b1     Unknown   Pending"));
  EXPECT_THAT(out, HasSubstr("b2     False     UnknownField"));
}

TEST_F(AgentsTest, AnAgentWithoutAFileIsBeingDeleted) {
  home_.WriteStatus(ReadyAgent("z1"));
  EXPECT_THAT(home_.Beige({"get", "agents", "z1"}).out, HasSubstr("Deleting"));
}

TEST_F(AgentsTest, UnknownNameIsStatusThree) {
  const Outcome get = home_.Beige({"get", "agents", "zz"});
  EXPECT_EQ(get.status, 3);
  EXPECT_EQ(get.out, "");
  EXPECT_EQ(get.err, "beige: get: agent.beige.dev/zz: no such agent; 'beige get agents -A' lists them\n");
  EXPECT_EQ(home_.Beige({"describe", "agent", "zz"}).status, 3);
}

TEST_F(AgentsTest, WatchPrintsTheListThenEachChange) {
  Program watch(home_.Command({"get", "agents", "-w"}));
  ASSERT_TRUE(watch.AwaitOutput("RoundTripOK"));
  home_.WriteStatus(ReadyAgent("a1", Truth::kFalse, "CrashLoopBackOff"));
  EXPECT_TRUE(watch.AwaitOutput("CrashLoopBackOff"));
  home_.Write("agents.d/n.yaml", AgentText("n1"));
  EXPECT_TRUE(watch.AwaitOutput("n1 "));
  ASSERT_EQ(home_.Beige({"delete", "agent", "n1"}).status, 0);
  EXPECT_TRUE(watch.AwaitOutput("agent.beige.dev/n1 deleted\n"));
}

TEST_F(AgentsTest, DescribeHasSpecConditionsEventsAndPaths) {
  home_.Write("data/operator/events/events.jsonl",
              "{\"ts\":\"2026-11-29T12:00:01.000Z\",\"namespace\":\"default\",\"agent\":\"a1\",\"type\":\"Normal\",\"reason\":\"SandboxStarted\",\"message\":\"started\"}\n"
              "{\"ts\":\"2026-11-29T12:00:02.000Z\",\"namespace\":\"default\",\"agent\":\"a11\",\"type\":\"Normal\",\"reason\":\"NotMine\",\"message\":\"\"}\n");
  const std::string out = home_.Beige({"describe", "agent", "a1"}).out;
  for (const char* part : {"pidsLimit", "description: Of the tests", "IsolationVerified", "SandboxStarted", "gateway.sock", "/agents/default/a1/workspace", "agents.d/a.yaml"}) {
    EXPECT_THAT(out, HasSubstr(part));
  }
  EXPECT_EQ(out.find("NotMine"), std::string::npos);
}

TEST_F(AgentsTest, ToolsAndSkillsSayWhoMayUseThem) {
  home_.Write("gateway.yaml", "apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\ntools:\n  t1: {path: ./t}\n  t2: {path: ./absent}\nskills:\n  s1: {path: ./s}\n");
  home_.Write("t/tool.yaml", "name: t1\ndescription: The tool\ncommand: [/bin/true]\nusage: [t1 X]\n");
  home_.Write("agents.d/t.yaml", AgentText("user", "  tools: [{name: t1}]\n"));
  const std::string out = home_.Beige({"get", "tools"}).out;
  EXPECT_THAT(out, HasSubstr("t1     The tool"));
  EXPECT_THAT(out, HasSubstr("none      user"));
  EXPECT_THAT(out, HasSubstr("t2     invalid: "));
  EXPECT_EQ(json::parse(home_.Beige({"get", "tools", "t1", "-o", "json"}).out)["usage"][0], "t1 X");
  EXPECT_EQ(home_.Beige({"get", "tools", "nope"}).status, 3);
  EXPECT_EQ(json::parse(home_.Beige({"get", "skills", "-o", "json"}).out)["items"][0]["path"], home_.path() + "/s");
}

}  // namespace
}  // namespace beige::testing
