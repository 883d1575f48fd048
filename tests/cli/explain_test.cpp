#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "home.h"

namespace beige::testing {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ExplainTest, ShowsAFieldWithItsFieldsDefaultsAndValues) {
  const Outcome sandbox = RunBeige({"explain", "agent.spec.sandbox"});
  EXPECT_EQ(sandbox.status, 0) << sandbox.err;
  EXPECT_THAT(sandbox.out, HasSubstr("KIND:     Agent\nVERSION:  beige.dev/v1alpha1\nFIELD:    agent.spec.sandbox <object>\n"));
  EXPECT_THAT(sandbox.out, HasSubstr("The container in which the agent's code runs."));
  EXPECT_THAT(sandbox.out, HasSubstr("  pidsLimit <integer>\n      How many processes"));
  EXPECT_THAT(sandbox.out, HasSubstr("      Default: 512\n      Range: 16 to 65536\n"));
  EXPECT_THAT(sandbox.out, HasSubstr("  imagePullPolicy <string>\n"));
  EXPECT_THAT(sandbox.out, HasSubstr("      Values: IfNotPresent, Always, Never\n"));
  EXPECT_THAT(RunBeige({"explain", "agent"}).out, HasSubstr("  spec <object> required\n"));
}

TEST(ExplainTest, ListsArePassedThrough) {
  const Outcome tools = RunBeige({"explain", "agent.spec.tools"});
  EXPECT_THAT(tools.out, HasSubstr("FIELD:    agent.spec.tools <list of object>"));
  EXPECT_THAT(tools.out, HasSubstr("  name <string> required\n"));
  for (const char* path : {"agent.spec.tools.name", "agents.spec.tools[].name", "Agent.spec.tools[0].name"}) {
    const Outcome name = RunBeige({"explain", path});
    EXPECT_THAT(name.out, HasSubstr("FIELD:    agent.spec.tools.name <string>")) << path;
    EXPECT_THAT(name.out, HasSubstr("Wants: a name of 1 to 63 characters")) << path;
  }
}

TEST(ExplainTest, TheConfigurationFilesAreExplainedToo) {
  EXPECT_THAT(RunBeige({"explain", "gateway.http.listen"}).out, HasSubstr("Default: 127.0.0.1:7433"));
  EXPECT_THAT(RunBeige({"explain", "gateway.http.tokens.scopes"}).out, HasSubstr("Values: read, prompt, exec, approve, admin"));
  EXPECT_EQ(RunBeige({"explain", "operator"}).status, 0);
  EXPECT_THAT(RunBeige({"explain", "tool"}).out, HasSubstr("  command <list of string> required\n"));
}

TEST(ExplainTest, AnUnknownPathNamesTheNearestField) {
  const Outcome field = RunBeige({"explain", "agent.spec.sandbox.pidLimit"});
  EXPECT_EQ(field.status, 3);
  EXPECT_THAT(field.err, HasSubstr("beige: explain: agent.spec.sandbox has no field \"pidLimit\" (did you mean agent.spec.sandbox.pidsLimit?); its fields are image, "));
  const Outcome document = RunBeige({"explain", "agnet.spec"});
  EXPECT_EQ(document.status, 3);
  EXPECT_THAT(document.err, HasSubstr("did you mean agent?"));
  const Outcome leaf = RunBeige({"explain", "agent.spec.operatingMode.x"});
  EXPECT_EQ(leaf.status, 3);
  EXPECT_THAT(leaf.err, HasSubstr("it has no fields"));
  EXPECT_EQ(RunBeige({"explain", "agent..spec"}).status, 3);
}

TEST(ExplainTest, JsonHasTheSame) {
  const auto mode = nlohmann::json::parse(RunBeige({"explain", "agent.spec.egress.mode", "-o", "json"}).out);
  EXPECT_EQ(mode["field"], "agent.spec.egress.mode");
  EXPECT_EQ(mode["type"], "string");
  EXPECT_EQ(mode["default"], "none");
  EXPECT_EQ(mode["values"], "none, open");
  const auto spec = nlohmann::json::parse(RunBeige({"explain", "agent.spec", "-o", "json"}).out);
  EXPECT_EQ(spec["fields"][0]["name"], "description");
}

}  // namespace
}  // namespace beige::testing
