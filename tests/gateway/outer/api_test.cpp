// The routes behind a real HTTP server, in front of a real core.
#include "gateway/http/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/gateway/core/core.h"
#include "tests/http/raw_client.h"

namespace beige {
namespace {
using http_test::RawClient;
using ::testing::HasSubstr;
using ::testing::Not;
using nlohmann::json;
using testing::Core;

const std::string kAll = "all-scopes-token-0123456789";
const std::string kReader = "read-only-token-0123456789";
}  // namespace

class ApiTest : public ::testing::Test {
 protected:
  ApiTest() {
    ToolManifest& kv = core_.AddTool("kv", "#!/bin/sh\n");
    kv.secrets = {{"TOKEN", Secret("hunter2")}};
    core_.Configure();
    core_.Grant("a1", {"kv", "nope"});
    ConfigSet set;
    set.config = std::make_shared<const GatewayConfig>(core_.config);
    set.tools = {std::make_shared<const ToolManifest>(kv)};
    set.tokens = {{"owner", Secret(kAll), {"read", "exec"}}, {"viewer", Secret(kReader), {"read"}}};
    core_.On([&] {
      api_ = std::make_unique<Api>(core_.loop(), core_.roster(), core_.calls(), core_.audit(), clock_, Listen{"127.0.0.1", 0});
      api_->SetConfig(set);
      api_->SetReady(true);
    });
    server_ = std::move(*http::Server::Start("127.0.0.1", 0, {}, [this](http::Request request, std::shared_ptr<http::Responder> responder) {
      api_->Handle(std::move(request), std::move(responder));
    }));
  }
  ~ApiTest() override {
    core_.On([&] { api_->CancelAll(); });
    server_.reset();
    core_.On([&] { api_.reset(); });
  }

  RawClient::Answer Ask(const std::string& method, const std::string& path, const std::string& headers = "", const std::string& body = "") {
    RawClient client(server_->port());
    client.Send(method + " " + path + " HTTP/1.1\r\nHost: localhost:1\r\n" + headers + (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") +
                "\r\n" + body);
    return client.ReadAnswer();
  }
  static std::string Bearer(const std::string& token) { return "Authorization: Bearer " + token + "\r\n"; }
  RawClient::Answer Get(const std::string& path, const std::string& token = kAll) { return Ask("GET", path, Bearer(token)); }
  RawClient::Answer Exec(const std::string& agent, const std::string& body, const std::string& token = kAll, const std::string& type = "application/json") {
    return Ask("POST", "/v1/namespaces/default/agents/" + agent + "/exec", Bearer(token) + "Content-Type: " + type + "\r\n", body);
  }
  static std::string CodeOf(const RawClient::Answer& answer) {
    const json body = json::parse(answer.body, nullptr, false);
    return body.is_object() && body.contains("error") ? body["error"]["code"].get<std::string>() : "no error: " + answer.body;
  }

  Core core_;
  RealClock clock_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<http::Server> server_;
};

TEST_F(ApiTest, HealthNeedsNoToken) {
  EXPECT_EQ(Ask("GET", "/healthz").status, 200);
  EXPECT_EQ(Ask("GET", "/readyz").status, 200);
  core_.On([&] { api_->SetReady(false); });
  EXPECT_EQ(Ask("GET", "/healthz").status, 200);
  EXPECT_EQ(Ask("GET", "/readyz").status, 503);
}

TEST_F(ApiTest, EveryOtherRouteNeedsAValidToken) {
  for (const char* path : {"/v1/agents", "/v1/tools", "/v1/skills", "/v1/openapi.json", "/v1/namespaces/default/agents", "/v1/namespaces/default/agents/a1",
                           "/", "/nothing", "/v1/namespaces/default/agents/a1/exec", "/healthz/", "/healthz%2f", "//healthz"}) {
    const auto none = Ask("GET", path);
    EXPECT_EQ(none.status, 401) << path;
    EXPECT_THAT(none.head, HasSubstr("WWW-Authenticate: Bearer"));
    EXPECT_EQ(Ask("GET", path, Bearer("wrong-token-0123456789")).status, 401) << path;
    EXPECT_EQ(Ask("GET", path, "Authorization: Bearer \r\n").status, 401) << path;
  }
}

TEST_F(ApiTest, RefusedRequestsAreAuditedButNotEachOne) {
  for (int i = 0; i < 50; ++i) Ask("GET", "/v1/agents", Bearer("wrong-token-0123456789"));
  EXPECT_TRUE(core_.AuditShows([](const auto& lines) { return lines.back().find("\"kind\":\"auth\"") != std::string::npos; }));
  size_t notes = 0;
  for (const auto& line : core_.AuditLines()) {
    if (line.find("\"kind\":\"auth\"") == std::string::npos) continue;
    ++notes;
    EXPECT_THAT(line, HasSubstr("401 GET /v1/agents from 127.0.0.1"));
    EXPECT_THAT(line, Not(HasSubstr("wrong-token")));
  }
  EXPECT_GE(notes, 1u);
  EXPECT_LT(notes, 25u);
}

TEST_F(ApiTest, AScopeThatIsMissingIs403) {
  const auto answer = Exec("a1", R"({"command":["true"]})", kReader);
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.body, HasSubstr("token viewer does not have scope exec"));
  EXPECT_EQ(Get("/v1/agents", kReader).status, 200);
}

TEST_F(ApiTest, ForeignHostsAndOriginsAreRefusedEvenWithAToken) {
  RawClient client(server_->port());
  client.Send("GET /v1/agents HTTP/1.1\r\nHost: evil.example\r\n" + Bearer(kAll) + "\r\n");
  EXPECT_EQ(client.ReadAnswer().status, 403);
  EXPECT_EQ(Ask("GET", "/v1/agents", Bearer(kAll) + "Origin: http://evil.example\r\n").status, 403);
}

TEST_F(ApiTest, AgentsAreListedAndFound) {
  const json all = json::parse(Get("/v1/agents").body);
  ASSERT_EQ(all["items"].size(), 1u);
  EXPECT_EQ(all["items"][0]["metadata"]["name"], "a1");
  EXPECT_EQ(json::parse(Get("/v1/namespaces/default/agents").body)["items"].size(), 1u);
  EXPECT_EQ(json::parse(Get("/v1/namespaces/other/agents").body)["items"].size(), 0u);
  const json one = json::parse(Get("/v1/namespaces/default/agents/a1").body);
  EXPECT_EQ(one["status"]["unknownTools"], json::array({"nope"}));
  EXPECT_EQ(one["status"]["connected"], false);
  const auto absent = Get("/v1/namespaces/default/agents/a2");
  EXPECT_EQ(absent.status, 404);
  EXPECT_THAT(absent.body, HasSubstr("no agent a2 in namespace default"));
}

TEST_F(ApiTest, PolicyIsExplainedWithoutACallOrARecord) {
  const std::string base = "/v1/namespaces/default/agents/a1/policy/";
  const size_t records = core_.AuditLines().size();
  const json granted = json::parse(Get(base + "kv", kReader).body);
  EXPECT_EQ(granted["decision"], "allow");
  EXPECT_EQ(granted["rule"], "tools");
  EXPECT_EQ(granted["exists"], true);
  EXPECT_EQ(granted["granted"], true);
  const json unknown = json::parse(Get(base + "nope").body);
  EXPECT_EQ(unknown["decision"], "deny");
  EXPECT_EQ(unknown["exitCode"], 127);
  EXPECT_EQ(unknown["exists"], false);
  EXPECT_EQ(unknown["granted"], true) << "the Agent lists it, the configuration does not know it";
  EXPECT_EQ(Get(base + "..%2F..%2Fkv").status, 400);
  EXPECT_EQ(json::parse(Get(base + "exec").body)["kind"], "exec");
  EXPECT_EQ(Get("/v1/namespaces/default/agents/a2/policy/kv").status, 404);
  EXPECT_EQ(Get(base).status, 404);
  EXPECT_EQ(Ask("POST", base + "kv", Bearer(kAll)).status, 405);
  EXPECT_EQ(core_.AuditLines().size(), records);
}

TEST_F(ApiTest, ToolsAreListedWithoutTheirSecrets) {
  const auto answer = Get("/v1/tools");
  EXPECT_EQ(json::parse(answer.body)["items"][0]["name"], "kv");
  EXPECT_THAT(answer.body, Not(HasSubstr("hunter2")));
  EXPECT_THAT(answer.body, Not(HasSubstr("command")));
}

TEST_F(ApiTest, UnknownRoutesAndBrokenPathsAreErrorsInJson) {
  for (const char* path : {"/", "/v1", "/v1/nothing", "/v1/agents/", "/v2/agents", "/v1/namespaces/default/agents/a1/exec/x", "/v1/namespaces//agents",
                           "/v1/namespaces/default/agents/"}) {
    const auto answer = Get(path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(CodeOf(answer), "NotFound");
  }
  for (const char* path : {"/v1/namespaces/default/agents/a%2fb", "/v1/namespaces/%2e%2e/agents", "/v1/namespaces/default/agents/a%00", "/v1/namespaces/default/agents/%zz"}) {
    EXPECT_EQ(Get(path).status, 400) << path;
  }
}

TEST_F(ApiTest, AWrongMethodIs405WithTheRightOne) {
  const auto post = Ask("POST", "/v1/agents", Bearer(kAll), "{}");
  EXPECT_EQ(post.status, 405);
  EXPECT_THAT(post.head, HasSubstr("Allow: GET, HEAD"));
  const auto get = Get("/v1/namespaces/default/agents/a1/exec");
  EXPECT_EQ(get.status, 405);
  EXPECT_THAT(get.head, HasSubstr("Allow: POST"));
  EXPECT_EQ(Ask("DELETE", "/healthz").status, 405);
}

TEST_F(ApiTest, ExecWantsJson) {
  EXPECT_EQ(Exec("a1", R"({"command":["true"]})", kAll, "text/plain").status, 415);
  EXPECT_EQ(Exec("a1", R"({"command":["true"]})", kAll, "application/x-www-form-urlencoded").status, 415);
  const auto answer = Exec("a1", R"({"comand":["true"]})", kAll, "application/json; charset=utf-8");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(json::parse(answer.body)["error"]["field"], "comand");
}

TEST_F(ApiTest, ExecOfAnUnknownAgentIs404) {
  const auto answer = Exec("a2", R"({"command":["true"]})");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(CodeOf(answer), "NotFound");
}

TEST_F(ApiTest, ExecWithoutASandboxIs503AndAudited) {
  const auto answer = Exec("a1", R"({"command":["true"]})");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("not connected"));
  EXPECT_TRUE(core_.AuditShows([](const auto& lines) {
    return lines.size() >= 2 && lines[lines.size() - 2].find(R"("surface":"http","actor":"owner","kind":"exec")") != std::string::npos;
  }));
}

TEST_F(ApiTest, TheDescriptionOfTheApiIsJson) {
  const json document = json::parse(Get("/v1/openapi.json").body, nullptr, false);
  ASSERT_TRUE(document.is_object());
  EXPECT_TRUE(document["paths"].contains("/v1/namespaces/{namespace}/agents/{name}/exec"));
}

TEST_F(ApiTest, ARouteOfTheDescriptionIsARouteOfTheServer) {
  const json document = json::parse(Get("/v1/openapi.json").body);
  for (const auto& [path, item] : document["paths"].items()) {
    std::string real = path;
    for (const auto& [from, to] : {std::pair{"{namespace}", "default"}, std::pair{"{name}", "a1"}}) {
      if (const size_t at = real.find(from); at != std::string::npos) real.replace(at, std::string(from).size(), to);
    }
    EXPECT_NE(Get(real).status, 404) << path;
  }
}

}  // namespace beige
