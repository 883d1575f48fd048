#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/load.h"
#include "tests/api/problems_of.h"

namespace beige {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kHead = "apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: a1}\n";

LoadedAgent One(const std::string& text) {
  LoadedFile file = LoadAgents(text, "agents.d/a.yaml");
  EXPECT_THAT(Texts(file.problems), IsEmpty());
  if (file.agents.size() != 1) {
    ADD_FAILURE() << file.agents.size() << " agents";
    return {};
  }
  return std::move(file.agents[0]);
}

// Problems of an Agent with this spec (flow style, on line 4).
std::vector<std::string> SpecProblems(const std::string& spec) { return Texts(One(kHead + ("spec: " + spec)).problems); }

AgentSpec SpecOf(const std::string& spec) {
  const LoadedAgent loaded = One(kHead + ("spec: " + spec));
  EXPECT_THAT(Texts(loaded.problems), IsEmpty());
  return loaded.agent ? loaded.agent->spec : AgentSpec();
}

TEST(LoadAgentsTest, ReadsEveryField) {
  const LoadedAgent loaded = One(R"(apiVersion: beige.dev/v1alpha1
kind: Agent
metadata: {name: researcher, namespace: lab, labels: {team: papers, beige.dev/tier: "1"}}
spec:
  description: Reads papers
  tools: [{name: kv}, {name: papers}]
  skills: [{name: typst}]
  coreTools: [{name: read}]
  model: {choices: [{name: anthropic/claude-sonnet-4-6, thinkingLevel: high}, {name: "local/qwen/3:8b"}]}
  instructions: |
    You read papers.
    Briefly.
  operatingMode: Suspended
  sandbox:
    image: registry.example.org:5000/agents/base:1.2
    imagePullPolicy: Never
    securityContext: {runAsUser: 1234}
    resources: {limits: {cpu: "1.5", memory: 5Gi}}
    pidsLimit: 100
    env: [{name: TZ, value: UTC}, {name: EMPTY}]
    volumes: [{name: papers, mountPath: /data, readOnly: false, hostPath: {path: /srv/papers}}]
  egress: {mode: open}
  workspace: {retentionPolicy: Delete}
)");
  ASSERT_TRUE(loaded.agent) << Join(loaded.problems);
  Agent want;
  want.metadata.name = "researcher";
  want.metadata.namespace_ = "lab";
  want.metadata.labels = {{"team", "papers"}, {"beige.dev/tier", "1"}};
  want.spec.description = "Reads papers";
  want.spec.tools = {{"kv"}, {"papers"}};
  want.spec.skills = {{"typst"}};
  want.spec.core_tools = {{"read"}};
  want.spec.model_choices = {{"anthropic/claude-sonnet-4-6", "high"}, {"local/qwen/3:8b", "off"}};
  want.spec.instructions = "You read papers.\nBriefly.\n";
  want.spec.operating_mode = OperatingMode::kSuspended;
  want.spec.sandbox = {"registry.example.org:5000/agents/base:1.2", PullPolicy::kNever, 1234, 1500, 5368709120, 100, {{"TZ", "UTC"}, {"EMPTY", ""}},
                       {{"papers", "/data", "/srv/papers", false}}};
  want.spec.egress_mode = EgressMode::kOpen;
  want.spec.workspace_retention = RetentionPolicy::kDelete;
  EXPECT_EQ(*loaded.agent, want);
  EXPECT_EQ(*loaded.key, (AgentKey{"lab", "researcher"}));
}

TEST(LoadAgentsTest, TheShortestAgentHasTheDefaultsOfTheStruct) {
  EXPECT_EQ(SpecOf("{}"), AgentSpec());
  EXPECT_EQ(SpecOf("{tools: , sandbox: {env: ~, securityContext: {runAsUser: null}, resources: {limits: {cpu: null}}}}"), AgentSpec());
}

TEST(LoadAgentsTest, ReportsEveryProblemAtOnceWithItsPlace) {
  const LoadedAgent loaded = One(R"(apiVersion: beige.dev/v1alpha1
kind: Agent
metadata:
  name: a1
spec:
  tols: [{name: kv}]
  sandbox:
    pidsLimit: many
    resources:
      limits: {memory: 512m}
    env:
    - {name: PATH, value: /bin}
)");
  EXPECT_THAT(Texts(loaded.problems),
              ElementsAre("agents.d/a.yaml:6:3: spec.tols: no such field; did you mean tools?",
                          "agents.d/a.yaml:8:16: spec.sandbox.pidsLimit: want an integer from 16 to 65536, got \"many\"",
                          "agents.d/a.yaml:10:24: spec.sandbox.resources.limits.memory: want bytes from 16Mi to 64Ti (m means thousandths of a byte; did you mean \"512Mi\"?), got \"512m\"",
                          "agents.d/a.yaml:12:14: spec.sandbox.env[0].name: PATH is set by Beige; take another name"));
  EXPECT_EQ(loaded.problems[0].reason, "UnknownField");
  EXPECT_EQ(loaded.problems[1].reason, "InvalidSpec");
  EXPECT_FALSE(loaded.agent);
  EXPECT_EQ(*loaded.key, (AgentKey{"default", "a1"}));  // so that the old version can go on under this name
}

TEST(LoadAgentsTest, NamesAreDnsLabelsOf1To40Characters) {
  const auto load = [](const std::string& name) { return One("apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: " + name + "}\nspec: {}\n"); };
  for (const std::string& good : std::vector<std::string>{"a", "a-1", "1a", std::string(40, 'a')}) EXPECT_TRUE(load(good).agent) << good;
  for (const std::string& bad : std::vector<std::string>{std::string(41, 'a'), "A", "-a", "a-", "a.b", "a_b", "\"\"", "../x", "\"a b\"", "\"a\\n\"", "7", "[a]"}) {
    const LoadedAgent loaded = load(bad);
    EXPECT_FALSE(loaded.agent) << bad;
    EXPECT_FALSE(loaded.key) << bad;  // never a part of a path
    EXPECT_THAT(Texts(loaded.problems), ElementsAre(StartsWith("agents.d/a.yaml:3:18: metadata.name: want a DNS label of 1 to 40 characters"))) << bad;
  }
  EXPECT_THAT(Texts(One("apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {}\nspec: {}\n").problems), ElementsAre(HasSubstr("metadata.name: is missing")));
  EXPECT_THAT(Texts(One("apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: a, namespace: ../b}\nspec: {}\n").problems), ElementsAre(HasSubstr("metadata.namespace: want a DNS label")));
}

TEST(LoadAgentsTest, LabelsAreThoseOfKubernetes) {
  const auto problems = [](const std::string& label) { return Texts(One("apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: a, labels: {" + label + "}}\nspec: {}\n").problems); };
  for (const char* good : {"a: b", "a: ''", "A.b_c-d: E.f_g-h", "example.org/team: x", "x.y.z/a: b"}) EXPECT_THAT(problems(good), IsEmpty()) << good;
  for (const char* bad : {"-a: b", "a/: b", "/a: b", "a/b/c: d", "EXAMPLE.org/a: b", "a..b/c: d", "'a b': c", "a: -b", "a: b c", "a: 1", "a:", "a: [b]"}) {
    EXPECT_THAT(problems(bad), ElementsAre(HasSubstr("metadata.labels"))) << bad;
  }
}

TEST(LoadAgentsTest, SaysWhatElseADocumentIsThatIsNoAgent) {
  const auto problems = [](const std::string& text) { return Texts(One(text).problems); };
  EXPECT_THAT(problems("kind: Agent\nmetadata: {name: a}\n"), ElementsAre("agents.d/a.yaml:1:1: apiVersion: is missing; want apiVersion: beige.dev/v1alpha1"));
  EXPECT_THAT(problems("apiVersion: beige.dev/v1\nkind: Agent\n"), ElementsAre("agents.d/a.yaml:1:13: apiVersion: want beige.dev/v1alpha1, got \"beige.dev/v1\""));
  EXPECT_THAT(problems("apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\nmetadata: {name: a}\n"), ElementsAre("agents.d/a.yaml:2:7: kind: want Agent, got \"GatewayConfig\""));
  EXPECT_THAT(problems("just text"), ElementsAre(AllOf(HasSubstr("want a document with apiVersion"), HasSubstr("got \"just text\""))));
  EXPECT_THAT(problems("[1]"), ElementsAre(HasSubstr("got a list")));
  // A file that was cut behind the metadata must not become an agent that may do nothing.
  EXPECT_THAT(problems(kHead), ElementsAre("agents.d/a.yaml:1:1: spec: is missing"));
}

TEST(LoadAgentsTest, UnknownTopLevelFieldsAreRefusedWithTheirRightPlace) {
  EXPECT_THAT(Texts(One(std::string(kHead) + "spec: {}\ntools: []\n").problems), ElementsAre("agents.d/a.yaml:5:1: tools: no such field; did you mean spec.tools?"));
  EXPECT_THAT(Texts(One(std::string(kHead) + "spec: {}\nmetdata: {}\n").problems), ElementsAre(HasSubstr("did you mean metadata?")));
}

TEST(LoadAgentsTest, WhatKubectlAndOurOwnGetPrintIsAFile) {
  const LoadedAgent loaded = One(R"(apiVersion: beige.dev/v1alpha1
kind: Agent
metadata:
  name: a1
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
  creationTimestamp: "2026-11-29T12:00:00Z"
  generation: 3
  resourceVersion: "77"
  uid: 6f9619ff-8b86-4011-b42d-00cf4fc964ff
  managedFields: [{manager: kubectl, fieldsV1: {"f:spec": {}}}]
spec: {tools: [{name: kv}]}
status: {observedGeneration: 3, conditions: [{type: Ready, anything: goes}]}
local: {socket: /x}
)");
  ASSERT_TRUE(loaded.agent) << Join(loaded.problems);
  EXPECT_EQ(loaded.agent->metadata.uid, "");
  EXPECT_EQ(loaded.agent->metadata.generation, 0);
  EXPECT_EQ(loaded.agent->status, AgentStatus());
}

TEST(LoadAgentsTest, ReadsListsAsKubectlPrintsThem) {
  const std::string item = "{apiVersion: beige.dev/v1alpha1, kind: Agent, metadata: {name: NAME}, spec: {}}";
  std::string first = item;
  std::string second = item;
  first.replace(first.find("NAME"), 4, "a1");
  second.replace(second.find("NAME"), 4, "a2").replace(second.find("spec"), 4, "spek");
  const LoadedFile file = LoadAgents("apiVersion: v1\nkind: List\nitems:\n- " + first + "\n- " + second + "\n", "f");
  ASSERT_THAT(file.agents, SizeIs(2));
  EXPECT_TRUE(file.agents[0].agent);
  EXPECT_THAT(Texts(file.agents[1].problems), ElementsAre("f:5:3: items[1].spec: is missing", HasSubstr("items[1].spek: no such field; did you mean spec?")));
}

TEST(LoadAgentsTest, OfTwoAgentsWithOneNameTheSecondIsRefusedWithBothPlaces) {
  const LoadedFile file = LoadAgents(std::string(kHead) + "spec: {}\n---\n" + kHead + "spec: {description: again}\n---\n" +
                                         "apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: a1, namespace: other}\nspec: {}\n",
                                     "f");
  ASSERT_THAT(file.agents, SizeIs(3));
  EXPECT_TRUE(file.agents[0].agent);
  EXPECT_FALSE(file.agents[1].agent);
  EXPECT_THAT(Texts(file.agents[1].problems), ElementsAre("f:8:18: metadata.name: agent default/a1 stands twice in this file; the first is at line 3"));
  EXPECT_TRUE(file.agents[2].agent);
}

TEST(LoadAgentsTest, ABadDocumentDoesNotTakeTheOthersWithIt) {
  const LoadedFile file = LoadAgents(std::string(kHead) + "spec: {description: a, description: b}\n---\n" +
                                         "apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: a2}\nspec: {}\n",
                                     "f");
  ASSERT_THAT(file.agents, SizeIs(2));
  EXPECT_THAT(Texts(file.agents[0].problems), ElementsAre(HasSubstr("spec.description: this key stands twice")));
  EXPECT_EQ(file.agents[0].key->name, "a1");
  EXPECT_TRUE(file.agents[1].agent);
}

TEST(LoadAgentsTest, KnowsAnEmptyFileFromABrokenOne) {
  EXPECT_TRUE(LoadAgents("", "f").empty);
  EXPECT_TRUE(LoadAgents("# agents go here\n---\n", "f").empty);
  const LoadedFile broken = LoadAgents("a: [", "f");
  EXPECT_FALSE(broken.empty);
  EXPECT_THAT(broken.agents, IsEmpty());
  EXPECT_THAT(broken.problems, SizeIs(1));
}

TEST(LoadAgentsTest, ReadsQuantitiesAsTextsAndAsIntegers) {
  EXPECT_EQ(SpecOf("{sandbox: {resources: {limits: {cpu: 2, memory: 536870912}}}}").sandbox.memory_bytes, 536870912);
  EXPECT_EQ(SpecOf("{sandbox: {resources: {limits: {cpu: 2}}}}").sandbox.cpu_millis, 2000);
  EXPECT_EQ(SpecOf("{sandbox: {resources: {limits: {cpu: 500m, memory: 1.5Gi}}}}").sandbox.cpu_millis, 500);
  EXPECT_EQ(SpecOf("{sandbox: {resources: {limits: {memory: 6G}}}}").sandbox.memory_bytes, 6'000'000'000);
  for (const char* bad : {"0", "-1", "\"\"", "3g", "512m", "1e9", "15Mi", "65Ti", "99999999999999999999", "1 Gi", "true", "[1]"}) {
    EXPECT_THAT(SpecProblems(std::string("{sandbox: {resources: {limits: {memory: ") + bad + "}}}}"), ElementsAre(HasSubstr("limits.memory: want bytes from 16Mi to 64Ti"))) << bad;
  }
  for (const char* bad : {"0", "-1", "0.5", "9m", "1025", "\"1.\"", "two", "1e3"}) {
    EXPECT_THAT(SpecProblems(std::string("{sandbox: {resources: {limits: {cpu: ") + bad + "}}}}"), ElementsAre(HasSubstr("limits.cpu: want cores from 10m to 1024"))) << bad;
  }
}

TEST(LoadAgentsTest, RefusesRootAndTakesEveryOtherUser) {
  EXPECT_THAT(SpecProblems("{sandbox: {securityContext: {runAsUser: 0}}}"), ElementsAre(HasSubstr("runAsUser: want a uid from 1 to 4294967294, got 0")));
  EXPECT_THAT(SpecProblems("{sandbox: {securityContext: {runAsUser: 4294967295}}}"), SizeIs(1));
  EXPECT_THAT(SpecProblems("{sandbox: {securityContext: {runAsUser: -1}}}"), SizeIs(1));
  EXPECT_EQ(SpecOf("{sandbox: {securityContext: {runAsUser: 4294967294}}}").sandbox.run_as_user, 4294967294u);
}

TEST(LoadAgentsTest, RefusesMountsOverWhatBelongsToBeigeOrTheSystem) {
  const auto problems = [](const std::string& mount, const std::string& host) {
    return SpecProblems("{sandbox: {volumes: [{name: v, mountPath: \"" + mount + "\", hostPath: {path: \"" + host + "\"}}]}}");
  };
  for (const char* good : {"/data", "/workspaces", "/tmp2", "/opt/a b", "/usr/local/lib", "/toolsx/bin", "/srv/é"}) EXPECT_THAT(problems(good, "/srv/x"), IsEmpty()) << good;
  for (const char* bad : {"/", "/workspace", "/workspace/x", "/tmp", "/tools/bin", "/skills", "/beige/bin", "/proc", "/sys/fs", "/dev", "/etc/passwd", "data", "", "/a/../etc", "//etc",
                          "/data/", "/a//b", "/./a", "/a\\tb", "/a\\nb"}) {
    EXPECT_THAT(problems(bad, "/srv/x"), ElementsAre(HasSubstr("spec.sandbox.volumes[0].mountPath: want "))) << bad;
  }
  for (const char* bad : {"/", "/proc", "/proc/1/root", "/sys", "/dev/sda", "srv", "", "/srv/../etc", "~/x", "/srv/"}) {
    EXPECT_THAT(problems("/data", bad), ElementsAre(HasSubstr("spec.sandbox.volumes[0].hostPath.path: want "))) << bad;
  }
  EXPECT_THAT(SpecProblems("{sandbox: {volumes: [{name: a, mountPath: /data, hostPath: {path: /a}}, {name: b, mountPath: /data/x, hostPath: {path: /b}}]}}"),
              ElementsAre(HasSubstr("volumes[1].mountPath: want a path that neither lies in another volume nor holds one (/data, line 4)")));
}

TEST(LoadAgentsTest, RefusesVariablesThatBeigeSetsAndNothingElse) {
  const auto problems = [](const std::string& name) { return SpecProblems("{sandbox: {env: [{name: \"" + name + "\", value: x}]}}"); };
  for (const char* good : {"TZ", "_", "LD_PRELOAD", "HOMEPAGE", "BEIGE", "LANG", "a1"}) EXPECT_THAT(problems(good), IsEmpty()) << good;
  for (const char* bad : {"PATH", "HOME", "BEIGE_AGENT_NAME", "1A", "A-B", "A=B", "", "A B", "é"}) EXPECT_THAT(problems(bad), ElementsAre(HasSubstr("spec.sandbox.env[0].name: "))) << bad;
  EXPECT_THAT(SpecProblems("{sandbox: {env: [{name: A, value: \"x\\0y\"}]}}"), ElementsAre(HasSubstr("spec.sandbox.env[0].value: contains a NUL character")));
  EXPECT_THAT(SpecProblems("{sandbox: {env: [{name: A, value: 1.10}]}}"), ElementsAre(HasSubstr("put it in quotes: \"1.10\"")));
}

TEST(LoadAgentsTest, ChecksTheShapeOfImagesAndNames) {
  for (const char* good : {"debian", "debian:12", "localhost/beige-sandbox:0.1.0", "a/b/c", "ghcr.io/x/y@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "h:5000/x"}) {
    EXPECT_EQ(SpecOf(std::string("{sandbox: {image: \"") + good + "\"}}").sandbox.image, good);
  }
  for (const char* bad : {"a b", "-x", "A", "a:", "a@sha256:12", "https://x/y", "a\\tb", ":12", "a:b:c", "--privileged"}) {
    EXPECT_THAT(SpecProblems(std::string("{sandbox: {image: \"") + bad + "\"}}"), ElementsAre(HasSubstr("spec.sandbox.image: want an image reference"))) << bad;
  }
  for (const char* bad : {"Kv", "a/b", "../x", "-a", ".a", "", "a b", "$(x)"}) {
    EXPECT_THAT(SpecProblems(std::string("{tools: [{name: \"") + bad + "\"}]}"), ElementsAre(HasSubstr("spec.tools[0].name: want a name of 1 to 63"))) << bad;
  }
  EXPECT_THAT(SpecProblems("{tools: [kv]}"), ElementsAre(HasSubstr("spec.tools[0]: want an entry such as {name: kv}, got \"kv\"")));
  EXPECT_THAT(SpecProblems("{tools: [{name: kv}, {name: kv}]}"), ElementsAre(HasSubstr("spec.tools[1].name: \"kv\" stands twice in the list; the first is at line 4")));
}

TEST(LoadAgentsTest, CoreToolsAreFourWhenAbsentAndNoneWhenTheListIsEmpty) {
  EXPECT_THAT(SpecOf("{}").core_tools, ElementsAre(NamedRef{"read"}, NamedRef{"write"}, NamedRef{"patch"}, NamedRef{"exec"}));
  EXPECT_EQ(SpecOf("{coreTools: }").core_tools.size(), 4u);
  EXPECT_THAT(SpecOf("{coreTools: []}").core_tools, IsEmpty());
  EXPECT_THAT(SpecProblems("{coreTools: [{name: raed}]}"),
              ElementsAre(HasSubstr("spec.coreTools[0].name: want one of read, write, patch, exec, got \"raed\"; did you mean read?")));
  EXPECT_THAT(SpecProblems("{coreTools: [{name: read}, {name: read}]}"), ElementsAre(HasSubstr("stands twice")));
}

TEST(LoadAgentsTest, ModelsAreNamedByProviderAndModel) {
  EXPECT_THAT(SpecOf("{model: }").model_choices, IsEmpty());
  EXPECT_EQ(SpecOf("{model: {choices: [{name: a/b, thinkingLevel: \"off\"}]}}").model_choices[0].thinking_level, "off");
  EXPECT_THAT(SpecProblems("{model: {choices: [{name: a/b, thinkingLevel: off}]}}"), ElementsAre(HasSubstr("put it in quotes")));
  EXPECT_THAT(SpecProblems("{model: {choices: [{name: claude}]}}"),
              ElementsAre(HasSubstr("spec.model.choices[0].name: want PROVIDER/MODEL such as anthropic/claude-sonnet-4-6, got \"claude\"")));
  EXPECT_THAT(SpecProblems("{model: {choices: [{name: a/b, thinkingLevel: hihg}]}}"), ElementsAre(HasSubstr("did you mean high?")));
  EXPECT_THAT(SpecProblems("{model: {choices: [a/b]}}"), ElementsAre(HasSubstr("want an entry such as {name: anthropic/claude-sonnet-4-6")));
  EXPECT_THAT(SpecProblems("{model: {name: a/b}}"), ElementsAre(HasSubstr("spec.model.name: no such field; known here: choices")));
  EXPECT_THAT(SpecProblems("{instructions: \"" + std::string(65537, 'x') + "\"}"), ElementsAre(HasSubstr("at most 65536 characters")));
}

TEST(LoadAgentsTest, FieldsOfLaterVersionsAreUnknownNotIgnored) {
  EXPECT_THAT(SpecProblems("{egress: {mode: none, allow: []}}"), ElementsAre(HasSubstr("spec.egress.allow: no such field")));
  EXPECT_THAT(SpecProblems("{sandbox: {runtimeClassName: runsc}}"), ElementsAre(HasSubstr("spec.sandbox.runtimeClassName: no such field")));
  EXPECT_THAT(SpecProblems("{sandbox: {securityContext: {privileged: true}}}"), Contains(HasSubstr("no such field")));
}

TEST(LoadAgentsTest, NeverThrowsForAnyPrefixOrAnyBrokenByte) {
  const std::string text = std::string(kHead) + "spec:\n  tools: [{name: kv}]\n  sandbox: {resources: {limits: {cpu: \"1\"}}, env: [{name: A, value: 'b'}]}\n";
  for (size_t i = 0; i < text.size(); ++i) {
    (void)LoadAgents(text.substr(0, i), "f");
    for (const char byte : {'\0', '"', '{', '-', '\t', '\xff', '&', '*', '\n'}) {
      std::string broken = text;
      broken[i] = byte;
      const LoadedFile file = LoadAgents(broken, "f");
      for (const LoadedAgent& agent : file.agents) EXPECT_EQ(agent.agent.has_value(), agent.problems.empty());
    }
  }
}

}  // namespace
}  // namespace beige
