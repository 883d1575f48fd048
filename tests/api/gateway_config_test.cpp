#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/expand.h"
#include "api/load.h"
#include "tests/api/problems_of.h"

namespace beige {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::optional<std::string> Env(const std::string& name) {
  if (name == "HOME") return "/home/u";
  if (name == "EMPTY") return "";
  return std::nullopt;
}

constexpr const char* kHead = "apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\n";

std::vector<std::string> ProblemsOf(const std::string& rest) { return Texts(LoadGatewayConfig(kHead + rest, "/h/gateway.yaml", Env).problems); }

GatewayConfig Config(const std::string& rest) {
  const auto loaded = LoadGatewayConfig(kHead + rest, "/h/gateway.yaml", Env);
  EXPECT_THAT(Texts(loaded.problems), IsEmpty());
  return loaded.value.value_or(GatewayConfig());
}

TEST(GatewayConfigTest, AnEmptyFileAndOneThatNamesNothingAreTheDefaultsOfTheStruct) {
  EXPECT_EQ(Config(""), GatewayConfig());
  EXPECT_EQ(Config("http:\nmetrics: {}\nlimits: {calls: ~}\ntools: {}\n"), GatewayConfig());
  for (const char* text : {"", "# tools: {}\n"}) EXPECT_EQ(LoadGatewayConfig(text, "/h/gateway.yaml", Env).value, GatewayConfig());
}

TEST(GatewayConfigTest, ReadsEveryField) {
  GatewayConfig want;
  want.http = {"::1", 0};
  want.tokens = {{"ci", "/h/ci.token", {"read", "exec"}}};
  want.metrics = {"localhost", 9999};
  want.audit_sync = AuditSync::kEach;
  want.audit_per_agent_bytes_per_day = 5LL << 30;
  want.audit_keep = std::chrono::hours(24 * 7);
  want.limits = {8, 16, 2 << 20};
  want.tools = {{"kv", {"/h/tools/kv"}}, {"abs", {"/opt/t"}}, {"home", {"/home/u/t"}}, {"dollar", {"/h/$x"}}};
  want.min_confinement = Confinement::kLandlock;
  want.skills = {{"typst", {"/skills/typst"}}};
  EXPECT_EQ(Config(R"(
http: {listen: "[::1]:0", tokens: [{name: ci, file: ci.token, scopes: [read, exec]}]}
metrics: {listen: localhost:9999}
audit: {sync: each, perAgentBytesPerDay: 5Gi, keep: 7d}
limits: {connections: 8, calls: 16, bufferedBytes: 2097152}
tools: {minConfinement: landlock, kv: {path: ./tools/kv}, abs: {path: /opt/t/}, home: {path: "${HOME}/t"}, dollar: {path: $$x}}
skills: {typst: {path: ../skills/typst}}
)"),
            want);
}

TEST(GatewayConfigTest, ReportsEveryProblemWithItsPlace) {
  EXPECT_THAT(ProblemsOf(R"(htpp: {}
http: {listen: "7433", tokens: [{name: ci, file: "${NOPE}/x", scopes: [reed]}]}
audit: {sync: always, perAgentBytesPerDay: 512m}
limits: {calls: 0}
tools: {KV: {path: x}, kv: ./tools/kv, t: {pth: x}}
)"),
              ElementsAre("/h/gateway.yaml:3:1: htpp: no such field; did you mean http?",
                          HasSubstr("/h/gateway.yaml:4:16: http.listen: want a listening address such as 127.0.0.1:7433 or [::1]:7433 (the port is missing), got \"7433\""),
                          "/h/gateway.yaml:4:50: http.tokens[0].file: the variable NOPE is not set",
                          HasSubstr("http.tokens[0].scopes[0]: want one of read, prompt, exec, approve, admin, got \"reed\"; did you mean read?"),
                          HasSubstr("/h/gateway.yaml:5:15: audit.sync: want one of none, batch, each"),
                          HasSubstr("audit.perAgentBytesPerDay: want bytes from 1Mi"),
                          "/h/gateway.yaml:6:17: limits.calls: want an integer from 1 to 4096, got 0",
                          HasSubstr("/h/gateway.yaml:7:9: tools.KV: want a name of 1 to 63 characters"),
                          HasSubstr("tools.kv: want a tool such as {path: ./tools/kv}, got \"./tools/kv\""),
                          HasSubstr("tools.t.path: is missing"),
                          HasSubstr("tools.t.pth: no such field; did you mean path?")));
}

TEST(GatewayConfigTest, TheLeastConfinementIsNoToolAndHasTwoValues) {
  EXPECT_EQ(Config("tools: {minConfinement: namespaces}"), GatewayConfig());
  EXPECT_THAT(ProblemsOf("tools: {minConfinement: none}"), ElementsAre(HasSubstr("tools.minConfinement: want one of namespaces, landlock, got \"none\"")));
}

TEST(GatewayConfigTest, AddressesAreHostAndPort) {
  const auto port = [](const std::string& listen) { return Config("http: {listen: \"" + listen + "\"}").http.port; };
  EXPECT_EQ(port("127.0.0.1:0"), 0);
  EXPECT_EQ(port("0.0.0.0:65535"), 65535);
  EXPECT_EQ(Config("http: {listen: 127.0.0.1:80}").http, (Listen{"127.0.0.1", 80}));
  const std::pair<const char*, const char*> bad[] = {{"7433", "the port is missing"}, {"localhost", "the port is missing"}, {"[::1]", "the port is missing"}, {":7433", "the host is missing"},
                                                     {"::1:7433", "stands in brackets"}, {"a:65536", "from 0 to 65535"}, {"a:-1", "from 0 to 65535"}, {"a:", "from 0 to 65535"},
                                                     {"a:http", "from 0 to 65535"}, {"http://a:80", "stands in brackets"}, {"a b:80", "want a listening address"}, {"[]:80", "want a listening address"}, {"", "the port is missing"}};
  for (const auto& [listen, message] : bad) EXPECT_THAT(ProblemsOf("http: {listen: \"" + std::string(listen) + "\"}"), ElementsAre(HasSubstr(message))) << listen;
  EXPECT_THAT(ProblemsOf("http: {listen: 7433}"), ElementsAre(HasSubstr("want a listening address")));
  EXPECT_THAT(ProblemsOf("http: {listen: 127.0.0.1:9433}"), ElementsAre(HasSubstr("metrics.listen: the address of http.listen")));
}

TEST(GatewayConfigTest, KnowsAFileOfAnotherKind) {
  const auto problems = [](const std::string& text) { return Texts(LoadGatewayConfig(text, "gateway.yaml", Env).problems); };
  EXPECT_THAT(problems("apiVersion: beige.dev/v1alpha1\nkind: OperatorConfig\nengine: {}\n"), ElementsAre("gateway.yaml:2:7: kind: want GatewayConfig, got \"OperatorConfig\""));
  EXPECT_THAT(problems("tools: {}\n"), ElementsAre("gateway.yaml:1:1: apiVersion: is missing; want apiVersion: beige.dev/v1alpha1", "gateway.yaml:1:1: kind: is missing; want kind: GatewayConfig"));
  EXPECT_THAT(problems(std::string(kHead) + "---\n" + kHead), ElementsAre(HasSubstr("gateway.yaml:4:1: a second document")));
  EXPECT_THAT(problems("[]"), ElementsAre(HasSubstr("got a list")));
  EXPECT_THAT(problems("a: \""), ElementsAre(HasSubstr("never closed")));
}

TEST(ExpandTest, ReplacesBracedNamesAndDoubledSigns) {
  EXPECT_EQ(Expand("${HOME}/x/${EMPTY}$$${HOME}", Env).value(), "/home/u/x/$/home/u");
  EXPECT_EQ(Expand("plain", Env).value(), "plain");
  EXPECT_EQ(Expand("$${HOME}", Env).value(), "${HOME}");
  EXPECT_EQ(Expand("${NOPE}", Env).error(), (Error{Code::kNotFound, "NOPE"}));
  for (const char* text : {"$HOME", "${", "${HOME", "$", "a$", "${}", "${1A}", "${A-B}", "${A:-b}"}) EXPECT_EQ(Expand(text, Env).error().code, Code::kInvalid) << text;
}

}  // namespace
}  // namespace beige
