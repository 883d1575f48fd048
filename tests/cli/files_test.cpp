#include <gmock/gmock.h>
#include <sys/stat.h>

#include "home.h"

namespace beige::testing {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

unsigned ModeOf(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 ? st.st_mode & 07777u : 0;
}

TEST(InitTest, WritesAHomeThatIsValidAndHasNoLiveAgent) {
  const Home home;
  ASSERT_EQ(::chmod(home.path().c_str(), 0755), 0);
  const Outcome init = home.Beige({"init"});
  EXPECT_EQ(init.status, 0) << init.err;
  EXPECT_EQ(ModeOf(home.path()), 0700u);
  EXPECT_EQ(ModeOf(home.path() + "/operator.yaml"), 0600u);
  EXPECT_TRUE(home.Has("agents.d/hello.yaml.example"));
  const Outcome check = home.Beige({"config", "check"});
  EXPECT_EQ(check.status, 0) << check.err;
  EXPECT_EQ(home.Beige({"get", "agents", "-o", "name"}).out, "");
}

TEST(InitTest, ItsExamplesAreValid) {
  const Home home;
  ASSERT_EQ(home.Beige({"init"}).status, 0);
  EXPECT_EQ(home.Beige({"apply", "-f", home.path() + "/agents.d/hello.yaml.example"}).status, 0);
  home.Write("tools/kv/tool.yaml", home.Read("tools/kv.example/tool.yaml.example"));
  home.Write("tools/kv/kv.py", "#!/bin/sh\n", 0755);
  home.Write("gateway.yaml", home.Read("gateway.yaml") + "tools:\n  kv: {path: ./tools/kv}\n");
  const Outcome check = home.Beige({"config", "check"});
  EXPECT_EQ(check.status, 0) << check.err;
}

TEST(InitTest, MakesADirectoryAndChangesNothingInAHome) {
  const Home home;
  const std::string made = home.path() + "/deep/new";
  EXPECT_EQ(RunBeige({"init", made}).status, 0);
  EXPECT_TRUE(home.Has("deep/new/gateway.yaml"));
  home.Write("deep/new/gateway.yaml", "mine\n");
  const Outcome again = RunBeige({"init", made});
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.err, HasSubstr("exists already"));
  EXPECT_EQ(home.Read("deep/new/gateway.yaml"), "mine\n");
}

TEST(ConfigCheckTest, PrintsEveryProblemOfEveryFileAndExitsWithTwo) {
  const Home home;
  home.Write("operator.yaml", "apiVersion: beige.dev/v1alpha1\nkind: OperatorConfig\nengin: {type: docker}\n");
  home.Write("gateway.yaml", "apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\nhttp: {tokens: [{name: ci, file: ./absent.token, scopes: [read]}]}\ntools:\n  kv: {path: ./tools/kv}\n  gone: {path: ./tools/gone}\n");
  home.Write("tools/kv/tool.yaml", "name: other\ndescription: d\ncommand: [/bin/true]\n");
  home.Write("agents.d/a.yaml", AgentText("a1", "  sandbox: {pidsLimit: many}\n"));
  home.Write("agents.d/b.yaml", "a: [\n");
  home.Write("agents.d/c.yaml", AgentText("c1"));
  home.Write("agents.d/d.yaml", AgentText("c1"));
  const Outcome check = home.Beige({"config", "check"});
  EXPECT_EQ(check.status, 2);
  for (const char* part : {"operator.yaml:3:", "did you mean", "http.tokens[0].file", "tools.gone.path", "tools/kv/tool.yaml", "want \"kv\"", "agents.d/a.yaml:5:", "spec.sandbox.pidsLimit",
                           "agents.d/b.yaml:", "agents.d/d.yaml", "already defined in"}) {
    EXPECT_THAT(check.err, HasSubstr(part));
  }
  EXPECT_EQ(home.Beige({"config", "check", "-o", "json"}).status, 2);
  EXPECT_THAT(home.Beige({"config", "check", "-o", "json"}).out, HasSubstr("\"valid\": false"));
}

TEST(ConfigCheckTest, WarnsOfAToolThatNobodyConfigured) {
  const Home home;
  home.Write("gateway.yaml", "apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\n");
  home.Write("agents.d/a.yaml", AgentText("a1", "  tools: [{name: kv}]\n"));
  const Outcome check = home.Beige({"config", "check"});
  EXPECT_EQ(check.status, 0) << check.err;
  EXPECT_THAT(check.err, HasSubstr("names tool kv, which gateway.yaml doesn't have"));
}

TEST(ApplyTest, CreatesConfiguresAndLeavesUnchanged) {
  const Home home;
  const std::string text = "# why it exists\n" + AgentText("a1");
  EXPECT_EQ(home.Beige({"apply", "-f", "-"}, text).out, "agent.beige.dev/a1 created\n");
  EXPECT_EQ(home.Read("agents.d/default.a1.yaml"), text) << "comments stay";
  EXPECT_EQ(home.Beige({"apply", "-f", "-"}, text).out, "agent.beige.dev/a1 unchanged\n");
  EXPECT_EQ(home.Beige({"apply", "-f", "-"}, AgentText("a1", "  description: Other\n")).out, "agent.beige.dev/a1 configured\n");
}

TEST(ApplyTest, TakesManyDocumentsAndDirectoriesAsOneFilePerAgent) {
  const Home home;
  const Home input;
  input.Write("x.yaml", AgentText("a1") + "---\n" + AgentText("a2"));
  input.Write("y.json", R"({"apiVersion":"beige.dev/v1alpha1","kind":"Agent","metadata":{"name":"a3","namespace":"team"},"spec":{}})");
  input.Write(".hidden.yaml", "rubbish: [");
  const Outcome apply = home.Beige({"apply", "-f", input.path()});
  EXPECT_EQ(apply.status, 0) << apply.err;
  EXPECT_EQ(apply.out, "agent.beige.dev/a1 created\nagent.beige.dev/a2 created\nagent.beige.dev/team/a3 created\n");
  EXPECT_EQ(home.Read("agents.d/default.a2.yaml"), AgentText("a2"));
  EXPECT_TRUE(home.Has("agents.d/team.a3.yaml"));
}

TEST(ApplyTest, WritesNothingWhenOneDocumentIsInvalid) {
  const Home home;
  const Outcome apply = home.Beige({"apply", "-f", "-"}, AgentText("a1") + "---\n" + AgentText("a2", "  pidLimit: 3\n"));
  EXPECT_EQ(apply.status, 2);
  EXPECT_THAT(apply.err, HasSubstr("beige: apply: stdin:11:3:"));
  EXPECT_THAT(apply.err, HasSubstr("nothing was written"));
  EXPECT_FALSE(home.Has("agents.d"));
  EXPECT_EQ(home.Beige({"apply", "-f", "-"}, "# nothing\n").status, 2);
  EXPECT_EQ(home.Beige({"apply", "-f", "-"}, AgentText("a1") + "---\n" + AgentText("a1")).status, 2);
  EXPECT_EQ(home.Beige({"apply", "-f", home.path() + "/absent.yaml"}).status, 3);
}

TEST(ApplyTest, RefusesAnAgentThatAnotherFileDefines) {
  const Home home;
  home.Write("agents.d/mine.yaml", AgentText("a1"));
  const Outcome apply = home.Beige({"apply", "-f", "-"}, AgentText("a1", "  description: Other\n"));
  EXPECT_EQ(apply.status, 1);
  EXPECT_THAT(apply.err, HasSubstr("agents.d/mine.yaml"));
  EXPECT_FALSE(home.Has("agents.d/default.a1.yaml"));
}

TEST(ApplyTest, PutsAnAgentWithoutNamespaceIntoTheOneOfTheOption) {
  const Home home;
  EXPECT_EQ(home.Beige({"-n", "team", "apply", "-f", "-"}, AgentText("a1")).out, "agent.beige.dev/team/a1 created\n");
  EXPECT_THAT(home.Read("agents.d/team.a1.yaml"), HasSubstr("namespace: team"));
  EXPECT_EQ(home.Beige({"get", "agents", "-n", "team", "-o", "name"}).out, "agent.beige.dev/team/a1\n");
  const std::string elsewhere = "apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: a1, namespace: ops}\nspec: {}\n";
  EXPECT_EQ(home.Beige({"-n", "team", "apply", "-f", "-"}, elsewhere).status, 2);
}

TEST(DeleteTest, RemovesTheFileOrOnlyTheDocument) {
  const Home home;
  home.Write("agents.d/one.yaml", AgentText("a1"));
  home.Write("agents.d/many.yaml", AgentText("a2") + "---\n# keep me\n" + AgentText("a3") + "---\n" + AgentText("a4"));
  EXPECT_EQ(home.Beige({"delete", "agent", "a1"}).out, "agent.beige.dev/a1 deleted\n");
  EXPECT_FALSE(home.Has("agents.d/one.yaml"));
  EXPECT_EQ(home.Beige({"delete", "agent", "a2", "a4"}).status, 0);
  EXPECT_EQ(home.Read("agents.d/many.yaml"), "# keep me\n" + AgentText("a3"));
  EXPECT_EQ(home.Beige({"delete", "-f", "-"}, AgentText("a3")).status, 0);
  EXPECT_FALSE(home.Has("agents.d/many.yaml"));
}

TEST(DeleteTest, SaysThatThereIsNoSuchAgent) {
  const Home home;
  const Outcome remove = home.Beige({"delete", "agent", "nobody"});
  EXPECT_EQ(remove.status, 3);
  EXPECT_THAT(remove.err, HasSubstr("beige: delete: agent.beige.dev/nobody: no such agent"));
  EXPECT_EQ(home.Beige({"delete", "agent", "nobody", "--ignore-not-found"}).status, 0);
  EXPECT_EQ(home.Beige({"delete", "agent"}).status, 2);
  EXPECT_THAT(remove.err, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace beige::testing
