#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "http/http_server.h"
#include "tests/gateway/core/client.h"
#include "tests/gateway/outer/gateway_process.h"

namespace beige {
namespace {
using gateway_test::Eventually;
using gateway_test::GatewayProcess;
using http_test::RawClient;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

bool Has(const std::vector<std::string>& lines, std::string_view what) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return line.find(what) != std::string::npos; });
}
const char* const kKv = "#!/bin/sh\nif [ \"$1\" = fail ]; then echo bad >&2; exit 7; fi\necho \"kv: $*\"\ncat\n";
}  // namespace

class GatewayProcessTest : public ::testing::Test {
 protected:
  // A gateway with tool kv and agent a1 whose sandbox is connected.
  void Up() {
    gateway_.AddTool("kv", kKv);
    gateway_.WriteConfig("tools: {kv: {path: ./tools/kv}}\n");
    ASSERT_TRUE(gateway_.Start()) << gateway_.Log();
    operator_ = gateway_.ConnectOperator();
    operator_->Send(admin::Sync{{grant_}});
    const auto in_force = operator_->Await<admin::InForce>();
    ASSERT_TRUE(in_force);
    ASSERT_THAT(in_force->tools, ::testing::ElementsAre("kv")) << json(in_force->unavailable_tools).dump();
    ASSERT_TRUE(gateway_.StartSandbox(*operator_, grant_)) << gateway_.Log() << ReadFile(gateway_.home().path() + "/sandbox.log").value_or("");
  }
  GatewayProcess gateway_;
  std::unique_ptr<gateway_test::Operator> operator_;
  admin::Grant grant_ = GatewayProcess::GrantOf("a1", {"kv"});
};

TEST_F(GatewayProcessTest, ServesUntilSigtermAndCleansUp) {
  ASSERT_TRUE(gateway_.Start()) << gateway_.Log();
  EXPECT_EQ(gateway_.Get("/healthz").status, 200);
  EXPECT_EQ(gateway_.Get("/readyz").status, 200);
  struct stat st {};
  for (const std::string& socket : {gateway_.paths().AdminSocket(), gateway_.paths().CliSocket()}) {
    ASSERT_EQ(::stat(socket.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 0777, 0600u) << socket;
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(gateway_.Stop(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_FALSE(Exists(gateway_.paths().GatewayInfo()));
}

TEST_F(GatewayProcessTest, MetricsAreOnAPortOfTheirOwn) {
  ASSERT_TRUE(gateway_.Start()) << gateway_.Log();
  RawClient client(static_cast<uint16_t>(gateway_.Port("metricsPort")));
  const auto answer = client.Get("/metrics");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, HasSubstr("text/plain; version=0.0.4"));
  EXPECT_THAT(answer.body, HasSubstr("beige_build_info{"));
  EXPECT_EQ(client.Get("/v1/agents").status, 404);
}

TEST_F(GatewayProcessTest, ModelsAreListedWithHowTheyStandAndNeverWithAKey) {
  gateway_.home().Write("key", "sk-canary-0123456789\n", 0600);
  gateway_.home().Write("data/gateway/provider-health.json",
                        R"({"v":1,"models":[{"provider":"p","model":"a/b:1","until":")" + FormatTime(std::chrono::system_clock::now() + std::chrono::hours(1)) +
                            R"(","why":"rate_limit","message":"slow down","failures":1}]})");
  gateway_.WriteConfig("llm: {providers: {p: {api: openai-completions, baseUrl: \"http://127.0.0.1:1\", apiKey: {file: key}, models: {\"a/b:1\": {contextWindow: 8}, c: {}}}}}\n");
  ASSERT_TRUE(gateway_.Start()) << gateway_.Log();
  const auto answer = gateway_.Get("/v1/models");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json items = json::parse(answer.body)["items"];
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0]["name"], "p/a/b:1");
  EXPECT_EQ(items[0]["contextWindow"], 8);
  EXPECT_EQ(items[0]["health"]["state"], "cooling") << "what the last run has learnt";
  EXPECT_EQ(items[0]["health"]["why"], "rate_limit");
  EXPECT_EQ(items[1]["health"], json({{"state", "ready"}}));
  RawClient metrics(static_cast<uint16_t>(gateway_.Port("metricsPort")));
  EXPECT_THAT(metrics.Get("/metrics").body, HasSubstr("beige_llm_cooldown{model=\"a/b:1\",provider=\"p\"} 1"));

  // Another provider, live; a broken file changes nothing.
  gateway_.WriteConfig("llm: {providers: {q: {api: anthropic-messages, models: {d: {}}}}}\n");
  EXPECT_TRUE(Eventually([&] { return gateway_.Get("/v1/models").body.find("q/d") != std::string::npos; }));
  EXPECT_THAT(metrics.Get("/metrics").body, Not(HasSubstr("provider=\"p\"")));
  gateway_.WriteConfig("llm: {providers: {q: {api: anthropic, models: {d: {}}}}}\n");
  EXPECT_TRUE(Eventually([&] { return gateway_.Log().find("did you mean anthropic-messages?") != std::string::npos; }));
  EXPECT_THAT(gateway_.Get("/v1/models").body, HasSubstr("q/d"));
  EXPECT_EQ(gateway_.Stop(), 0);
  EXPECT_THAT(gateway_.Log(), Not(HasSubstr("canary")));
  for (const std::string& line : gateway_.AuditLines()) EXPECT_THAT(line, Not(HasSubstr("canary")));
}

TEST_F(GatewayProcessTest, ASecondOneOnTheHomeNamesTheFirst) {
  ASSERT_TRUE(gateway_.Start()) << gateway_.Log();
  gateway_test::Child second({BEIGE_BIN_DIR "/beige-gateway", "--home", gateway_.home().path()}, gateway_.home().path() + "/second.log", {});
  const auto status = second.Wait();
  ASSERT_TRUE(status);
  EXPECT_EQ(WEXITSTATUS(*status), 1);
  EXPECT_THAT(*ReadFile(gateway_.home().path() + "/second.log"), HasSubstr("another beige-gateway (pid " + std::to_string(gateway_.process().pid()) + ")"));
  EXPECT_EQ(gateway_.Get("/healthz").status, 200);
}

TEST_F(GatewayProcessTest, ATakenPortIsNamedWithTheKeyThatSetsIt) {
  const auto other = http::Server::Start("127.0.0.1", 0, {}, [](http::Request, std::shared_ptr<http::Responder>) {});
  const std::string address = "127.0.0.1:" + std::to_string((*other)->port());
  gateway_.home().Write("gateway.yaml", "apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\nhttp: {listen: " + address + "}\nmetrics: {listen: 127.0.0.1:0}\n");
  gateway_.Spawn();
  const auto status = gateway_.process().Wait();
  ASSERT_TRUE(status);
  EXPECT_EQ(WEXITSTATUS(*status), 1);
  EXPECT_THAT(gateway_.Log(), HasSubstr(address + " is already in use"));
  EXPECT_THAT(gateway_.Log(), HasSubstr("set http.listen"));
}

TEST_F(GatewayProcessTest, AnInvalidConfigurationEndsItWithEveryProblem) {
  gateway_.WriteConfig("tools: {one: {path: ./tools/one}, two: {path: ./tools/two}}\n");
  gateway_.Spawn();
  const auto status = gateway_.process().Wait();
  ASSERT_TRUE(status);
  EXPECT_EQ(WEXITSTATUS(*status), 2);
  EXPECT_THAT(gateway_.Log(), HasSubstr("tools.one.path"));
  EXPECT_THAT(gateway_.Log(), HasSubstr("tools.two.path"));
}

TEST_F(GatewayProcessTest, AReloadWithAProblemShowsInStatusAndAuditAndTheRepairClearsIt) {
  gateway_.AddTool("kv", kKv);
  ASSERT_TRUE(gateway_.Start()) << gateway_.Log();
  const auto problems = [&] { return json::parse(ReadFile(gateway_.paths().GatewayInfo()).value_or("{}"), nullptr, false).value("problems", json::array()); };
  gateway_.WriteConfig("tools: {gone: {path: ./tools/gone}}\n");
  EXPECT_TRUE(Eventually([&] { return problems().size() == 1; }));
  EXPECT_THAT(problems().dump(), HasSubstr("tools.gone.path"));
  EXPECT_TRUE(Has(gateway_.AuditLines(), R"("kind":"config","message":"not taken over)"));
  gateway_.WriteConfig("tools: {kv: {path: ./tools/kv}}\n");
  EXPECT_TRUE(Eventually([&] { return problems().empty() && gateway_.Get("/v1/tools").body.find("\"kv\"") != std::string::npos; }));
  EXPECT_TRUE(Has(gateway_.AuditLines(), R"("kind":"config","message":"reloaded: 1 tools")"));
}

TEST_F(GatewayProcessTest, CommandsRunInTheSandboxOverHttp) {
  Up();
  const json hello = gateway_.Exec("a1", {{"command", {"sh", "-c", "echo out; echo err >&2; exit 5"}}});
  EXPECT_EQ(hello, json::parse(R"({"exitCode":5,"signal":null,"stdout":"out\n","stderr":"err\n","encoding":"utf8"})"));
  EXPECT_EQ(gateway_.Exec("a1", {{"command", {"cat"}}, {"stdin", "through"}})["stdout"], "through");
  EXPECT_EQ(gateway_.Exec("a1", {{"command", {"sh", "-c", "printf '%s' \"$A\"; pwd"}}, {"env", {{"A", "b"}}}, {"cwd", "/tmp"}})["stdout"], "b/tmp\n");
  EXPECT_EQ(gateway_.Exec("a1", {{"command", {"sh", "-c", "kill -TERM $$"}}})["exitCode"], 143);
  EXPECT_EQ(gateway_.Exec("a1", {{"command", {"no-such-program"}}})["exitCode"], 127);
  const json binary = gateway_.Exec("a1", {{"command", {"printf", "\\377\\000"}}});
  EXPECT_EQ(binary["encoding"], "base64");
  EXPECT_EQ(binary["stdout"], "/wA=");
  const json large = gateway_.Exec("a1", {{"command", {"wc", "-c"}}, {"stdin", std::string(1000000, 'x')}});
  EXPECT_EQ(large["stdout"], "1000000\n");
  const json flood = gateway_.Exec("a1", {{"command", {"head", "-c", "12000000", "/dev/zero"}}});
  EXPECT_EQ(flood["truncated"], true);
  EXPECT_EQ(flood["exitCode"], 0);
}

TEST_F(GatewayProcessTest, TheOwnersCliRunsSeveralCommandsOnOneConnection) {
  Up();
  const auto exec = [](const std::vector<std::string>& argv, uint32_t flags) {
    std::string fields;
    v2::AppendField(fields, BGE_TAG_AGENT, "a1");
    for (const auto& arg : argv) v2::AppendField(fields, BGE_TAG_ARG, arg);
    v2::AppendU32Field(fields, BGE_TAG_FLAGS, flags);
    return fields;
  };
  testing::V2Client cli(gateway_.paths().CliSocket(), BGE_ROLE_CLI);
  cli.Send(1, BGE_EXEC, exec({"sh", "-c", "cat; echo e >&2; exit 4"}, BGE_FLAG_STDIN));
  cli.Send(2, BGE_EXEC, exec({"head", "-c", "1000000", "/dev/zero"}, 0));
  const auto flood = cli.Finish(2);  // far more than one window
  EXPECT_EQ(flood.out.size(), 1000000u);
  EXPECT_EQ(flood.exit.code, 0);
  cli.Send(1, BGE_STDIN, "in");
  cli.Send(1, BGE_STDIN, "");
  const auto cat = cli.Finish(1);
  EXPECT_EQ(cat.out, "in");
  EXPECT_EQ(cat.err, "e\n");
  EXPECT_EQ(cat.exit.code, 4);
  cli.Send(3, BGE_EXEC, exec({"sleep", "1001"}, 0));
  cli.Send(3, BGE_SIGNAL, std::string(1, static_cast<char>(SIGTERM)));
  const auto killed = cli.Finish(3);
  EXPECT_EQ(killed.exit.how, BGE_HOW_SIGNALED);
  EXPECT_EQ(killed.exit.code, SIGTERM);
  cli.Send(4, BGE_EXEC, exec({"sleep", "1002"}, 0));
  EXPECT_TRUE(Eventually([&] { return Has(gateway_.AuditLines(), R"("args":["sleep","1002"])"); }));
  cli.raw().Close();
  EXPECT_TRUE(Eventually([&] { return Has(gateway_.AuditLines(), R"("outcome":"cancelled")"); }));
}

TEST_F(GatewayProcessTest, ATimeoutEndsTheWholeTree) {
  Up();
  const json result = gateway_.Exec("a1", {{"command", {"sh", "-c", "sleep 1000 & sleep 1000"}}, {"timeout", "200ms"}});
  EXPECT_EQ(result["exitCode"], 124) << result.dump();
  EXPECT_THAT(result.value("error", ""), HasSubstr("timed out after 200ms"));
  EXPECT_EQ(gateway_.Exec("a1", {{"command", {"sh", "-c", "pgrep -x sleep | wc -l"}}})["stdout"], "0\n");
}

TEST_F(GatewayProcessTest, AToolsLauncherWorksInsideAndARevokedOneIsGone) {
  Up();
  EXPECT_EQ(gateway_.Exec("a1", {{"command", {"kv", "get", "a"}}})["stdout"], "kv: get a\n");
  const json piped = gateway_.Exec("a1", {{"command", {"sh", "-c", "echo in | kv x; kv fail; echo $?"}}});
  EXPECT_EQ(piped["stdout"], "kv: x\nin\n7\n");
  EXPECT_EQ(piped["stderr"], "bad\n");
  grant_.tools.clear();
  grant_.generation = 2;
  operator_->Send(admin::Put{grant_});
  ASSERT_TRUE(operator_->Await<admin::InForce>());
  EXPECT_EQ(gateway_.Exec("a1", {{"command", {"kv", "get", "a"}}})["exitCode"], 127);
  // The launcher itself, under another name: the gateway says no.
  const json denied = gateway_.Exec("a1", {{"command", {"/beige/bin/beige-sandbox", "run", "kv", "get", "a"}}});
  EXPECT_EQ(denied["exitCode"], 126);
  EXPECT_THAT(denied["stderr"].get<std::string>(), HasSubstr("beige: kv: denied by policy: not in tools of agent a1"));
}

TEST_F(GatewayProcessTest, AClientThatLeavesCancelsItsCommand) {
  Up();
  RawClient client(static_cast<uint16_t>(gateway_.Port("httpPort")));
  client.Send(gateway_.ExecRequest("a1", {{"command", {"sleep", "1000"}}}));
  EXPECT_TRUE(Eventually([&] { return Has(gateway_.AuditLines(), R"("args":["sleep","1000"])"); }));
  client.Close();
  EXPECT_TRUE(Eventually([&] { return Has(gateway_.AuditLines(), R"("outcome":"cancelled")"); }));
  EXPECT_EQ(gateway_.Exec("a1", {{"command", {"sh", "-c", "pgrep -x sleep | wc -l"}}})["stdout"], "0\n");
}

TEST_F(GatewayProcessTest, StoppingAnswersWhatRunsAndIsQuick) {
  Up();
  RawClient client(static_cast<uint16_t>(gateway_.Port("httpPort")));
  client.Send(gateway_.ExecRequest("a1", {{"command", {"sleep", "1000"}}}));
  EXPECT_TRUE(Eventually([&] { return Has(gateway_.AuditLines(), R"("args":["sleep","1000"])"); }));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(gateway_.Stop(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(client.ReadAnswer().status, 503);
  EXPECT_TRUE(Has(gateway_.AuditLines(), R"("outcome":"cancelled")"));
}

TEST_F(GatewayProcessTest, AfterAKillGrantsAreInForceBeforeAnOperatorComesAndTheSandboxReturns) {
  Up();
  RawClient client(static_cast<uint16_t>(gateway_.Port("httpPort")));
  client.Send(gateway_.ExecRequest("a1", {{"command", {"sleep", "1000"}}}));
  EXPECT_TRUE(Eventually([&] { return Has(gateway_.AuditLines(), R"("args":["sleep","1000"])"); }));
  gateway_.Kill();
  ASSERT_TRUE(gateway_.Start()) << gateway_.Log();
  // Nobody has connected as operator.
  EXPECT_EQ(json::parse(gateway_.Get("/v1/namespaces/default/agents/a1").body)["status"]["grantGeneration"], 1);
  EXPECT_TRUE(Has(gateway_.AuditLines(), R"("outcome":"unknown")"));  // the begin that the kill left open
  gateway_test::Operator op(gateway_.paths().AdminSocket());
  op.Send(admin::Sync{{grant_}});
  const auto registered = op.Await<admin::Registered>();
  ASSERT_TRUE(registered);
  EXPECT_EQ(registered->uid, grant_.agent.uid);
}

TEST_F(GatewayProcessTest, TheFirstSyncRemovesWhatIsGone) {
  Up();
  ASSERT_EQ(gateway_.Stop(), 0);
  ASSERT_TRUE(gateway_.Start()) << gateway_.Log();
  gateway_test::Operator op(gateway_.paths().AdminSocket());
  op.Send(admin::Sync{});
  const auto removed = op.Await<admin::Removed>();
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->uid, grant_.agent.uid);
  EXPECT_EQ(gateway_.Get("/v1/namespaces/default/agents/a1").status, 404);
  EXPECT_FALSE(Exists(gateway_.paths().Tree(grant_.agent.uid)));
}

}  // namespace beige
