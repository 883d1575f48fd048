#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/load.h"

namespace beige {
namespace {

using nlohmann::json;

Agent FullAgent() {
  Agent agent;
  agent.metadata = {"a1", "lab", {{"team", "papers"}}, "6f9619ff-8b86-4011-b42d-00cf4fc964ff", 7, "2026-11-29T12:00:00.000Z"};
  agent.spec.description = "Reads \"papers\"\nand: more # things\n";
  agent.spec.tools = {{"kv"}, {"papers"}};
  agent.spec.skills = {{"typst"}};
  agent.spec.core_tools = {{"read"}, {"exec"}};
  agent.spec.model_choices = {{"anthropic/claude-sonnet-4-6", "low"}, {"local/qwen/3:8b", "off"}};
  agent.spec.instructions = "You read papers.\n\n  - \"briefly\"\n";
  agent.spec.operating_mode = OperatingMode::kSuspended;
  agent.spec.sandbox = {"debian:12", PullPolicy::kAlways, 1000, 1500, 3LL << 29, 64, {{"A", "yes"}, {"B", "0644"}, {"C", "x: y"}, {"D", ""}}, {{"v", "/data", "/srv/v", false}}};
  agent.spec.egress_mode = EgressMode::kOpen;
  agent.spec.workspace_retention = RetentionPolicy::kDelete;
  agent.status.observed_generation = 7;
  agent.status.grant_generation = 6;
  agent.status.sandbox = {"docker", "0123abcd", "beige-a1", "debian:12", "sha256:ab", 1, "2026-11-29T12:00:01.000Z", 3};
  agent.status.conditions = {{"Ready", Truth::kTrue, "RoundTripOK", "fine", "2026-11-29T12:00:02.000Z", 7}, {"UpToDate", Truth::kUnknown, "", "", "", 0}};
  agent.local = {"/h/run/x/gateway.sock", "/h/agents/lab/a1/workspace", "/h/agents.d/a.yaml"};
  return agent;
}

TEST(AgentJsonTest, EverythingSurvivesARoundTrip) {
  for (const Agent& agent : {FullAgent(), Agent{.metadata = {.name = "a", .namespace_ = "default", .labels = {}, .uid = "", .generation = 0, .creation_time = ""},
                                                .spec = {}, .status = {}, .local = {}}}) {
    for (const int indent : {-1, 2}) {
      const auto back = DecodeAgent(EncodeAgent(agent, indent));
      ASSERT_TRUE(back) << back.error().message;
      EXPECT_EQ(*back, agent);
    }
  }
}

TEST(AgentJsonTest, HasTheDocumentedShape) {
  const json value = json::parse(EncodeAgent(FullAgent()));
  EXPECT_EQ(value["apiVersion"], "beige.dev/v1alpha1");
  EXPECT_EQ(value["kind"], "Agent");
  EXPECT_EQ(value["metadata"]["namespace"], "lab");
  EXPECT_EQ(value["spec"]["tools"][0], json({{"name", "kv"}}));
  EXPECT_EQ(value["spec"]["coreTools"], json::parse(R"([{"name":"read"},{"name":"exec"}])"));
  EXPECT_EQ(value["spec"]["model"]["choices"][1], json::parse(R"({"name":"local/qwen/3:8b","thinkingLevel":"off"})"));
  EXPECT_EQ(value["spec"]["sandbox"]["resources"]["limits"], json({{"cpu", "1500m"}, {"memory", "1536Mi"}}));
  EXPECT_EQ(value["spec"]["sandbox"]["volumes"][0]["hostPath"]["path"], "/srv/v");
  EXPECT_EQ(value["status"]["sandbox"]["imageDigest"], "sha256:ab");
  EXPECT_EQ(value["status"]["sandbox"]["template"], 1);
  EXPECT_EQ(value["status"]["conditions"][0]["status"], "True");
  EXPECT_EQ(value["local"]["socket"], "/h/run/x/gateway.sock");
  EXPECT_FALSE(json::parse(EncodeAgent(Agent())).contains("local"));
  EXPECT_EQ(json::parse(EncodeStatus(FullAgent().status)), value["status"]);
}

TEST(AgentJsonTest, WhatIsPrintedIsAFileThatLoadsToTheSameSpec) {
  const Agent agent = FullAgent();
  for (const std::string& text : {EncodeAgent(agent), EncodeAgent(agent, 2), JsonToYaml(EncodeAgent(agent))}) {
    const LoadedFile file = LoadAgents(text, "f");
    ASSERT_EQ(file.agents.size(), 1u) << Join(file.problems);
    ASSERT_TRUE(file.agents[0].agent) << Join(file.agents[0].problems) << "\n" << text;
    EXPECT_EQ(file.agents[0].agent->spec, agent.spec);
    EXPECT_EQ(file.agents[0].agent->metadata.labels, agent.metadata.labels);
  }
}

TEST(AgentJsonTest, RefusesWrongTypesByPathAndIgnoresFieldsItDoesNotKnow) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "want an object"},
      {"{", "not JSON"},
      {R"({"metadata":{}})", "metadata.name: is missing"},
      {R"({"kind":"Pod","metadata":{"name":"a"}})", "kind: want Agent"},
      {R"({"metadata":{"name":"a"},"spec":{"tools":[{"name":1}]}})", "spec.tools[0].name: want a string, got 1"},
      {R"({"metadata":{"name":"a"},"spec":{"tools":"kv"}})", "spec.tools: want a list"},
      {R"({"metadata":{"name":"a"},"spec":{"operatingMode":"Sleeping"}})", "spec.operatingMode: no such value"},
      {R"({"metadata":{"name":"a"},"spec":{"sandbox":{"securityContext":{"runAsUser":-1}}}})", "runAsUser: want an integer from 0"},
      {R"({"metadata":{"name":"a","generation":1.5}})", "metadata.generation: want an integer"},
      {R"({"metadata":{"name":"a","generation":18446744073709551615}})", "metadata.generation: want an integer"},
      {R"({"metadata":{"name":"a"},"status":{"conditions":[{"status":"True"}]}})", "status.conditions[0].type: is missing"},
  };
  for (const auto& [text, message] : cases) {
    const auto agent = DecodeAgent(text);
    ASSERT_FALSE(agent) << text;
    EXPECT_EQ(agent.error().code, Code::kInvalid);
    EXPECT_THAT(agent.error().message, testing::HasSubstr(message));
  }
  EXPECT_TRUE(DecodeAgent(R"({"metadata":{"name":"a","later":1},"spec":{"model":{}},"status":null})"));
}

TEST(AgentJsonTest, InvalidUtf8IsReplacedNotThrown) {
  Agent agent;
  agent.metadata.name = "a";
  agent.status.conditions = {{"Ready", Truth::kFalse, "X", "from an engine: \xff\xfe", "", 0}};
  const auto back = DecodeAgent(EncodeAgent(agent));
  ASSERT_TRUE(back);
  EXPECT_THAT(back->status.conditions[0].message, testing::HasSubstr("\xef\xbf\xbd"));
}

TEST(EncodeSpecTest, EqualSpecsGiveEqualTextAndDefaultsAreOmitted) {
  EXPECT_EQ(EncodeSpec(AgentSpec()), "{}");
  AgentSpec spec;
  spec.sandbox.env = {{"A", "b"}};
  EXPECT_EQ(EncodeSpec(spec), R"({"sandbox":{"env":[{"name":"A","value":"b"}]}})");
  EXPECT_EQ(EncodeSpec(FullAgent().spec), EncodeSpec(FullAgent().spec));
  AgentSpec talks;
  talks.core_tools.clear();
  talks.model_choices = {{"a/b", "off"}};
  EXPECT_EQ(EncodeSpec(talks), R"({"coreTools":[],"model":{"choices":[{"name":"a/b"}]}})");
}

TEST(ContainerSpecHashTest, ChangesWithWhatShapesTheContainerAndNothingElse) {
  const AgentSpec base = FullAgent().spec;
  const std::string hash = ContainerSpecHash(base);
  EXPECT_EQ(hash.size(), 26u);
  const auto changed = [&](auto&& change) {
    AgentSpec spec = base;
    change(spec);
    return ContainerSpecHash(spec) != hash;
  };
  EXPECT_TRUE(changed([](AgentSpec& s) { s.sandbox.image = "debian:11"; }));
  EXPECT_TRUE(changed([](AgentSpec& s) { s.sandbox.env[0].value = "no"; }));
  EXPECT_TRUE(changed([](AgentSpec& s) { s.sandbox.memory_bytes = 4LL << 30; }));
  EXPECT_TRUE(changed([](AgentSpec& s) { s.sandbox.cpu_millis.reset(); }));
  EXPECT_TRUE(changed([](AgentSpec& s) { s.sandbox.run_as_user = 1001; }));
  EXPECT_TRUE(changed([](AgentSpec& s) { s.sandbox.pids_limit = 65; }));
  EXPECT_TRUE(changed([](AgentSpec& s) { s.sandbox.volumes[0].read_only = true; }));
  EXPECT_TRUE(changed([](AgentSpec& s) { s.egress_mode = EgressMode::kNone; }));
  EXPECT_FALSE(changed([](AgentSpec& s) { s.tools.clear(); }));
  EXPECT_FALSE(changed([](AgentSpec& s) { s.skills = {{"x"}}; }));
  EXPECT_FALSE(changed([](AgentSpec& s) { s.description = "x"; }));
  EXPECT_FALSE(changed([](AgentSpec& s) { s.core_tools.clear(); }));
  EXPECT_FALSE(changed([](AgentSpec& s) { s.model_choices.clear(); }));
  EXPECT_FALSE(changed([](AgentSpec& s) { s.instructions = "x"; }));
  EXPECT_FALSE(changed([](AgentSpec& s) { s.operating_mode = OperatingMode::kRunning; }));
  EXPECT_FALSE(changed([](AgentSpec& s) { s.workspace_retention = RetentionPolicy::kRetain; }));
  EXPECT_FALSE(changed([](AgentSpec& s) { s.sandbox.image_pull_policy = PullPolicy::kNever; }));
  // Kept over versions: a release that changes this recreates every sandbox.
  EXPECT_EQ(ContainerSpecHash(AgentSpec()), "iqjw7i2vwntyuekgvulpp2det2");
}

}  // namespace
}  // namespace beige
