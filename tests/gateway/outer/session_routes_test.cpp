// The routes of sessions behind a real HTTP server and a real core, in front of sessions that the test drives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gateway/http/api.h"
#include "gateway/http/route.h"
#include "tests/gateway/core/core.h"
#include "tests/gateway/outer/driven_sessions.h"
#include "tests/http/raw_client.h"

namespace beige {
namespace {
using http_test::RawClient;
using nlohmann::json;
using ::testing::HasSubstr;
using testing::Core;
using testing::DrivenSessions;
using testing::Eventually;

const std::string kAll = "all-scopes-token-0123456789";
const std::string kReader = "read-only-token-0123456789";
const std::string kBase = "/v1/namespaces/default/agents/a1";

sessions::Event Make(std::string id, std::string_view name, std::string data, bool ends = false, std::string prompt = "p1") {
  return {std::move(id), name, std::move(data), std::move(prompt), ends};
}
}  // namespace

class SessionRoutesTest : public ::testing::Test {
 protected:
  SessionRoutesTest() {
    core_.Configure();
    core_.Grant("a1", {});
    ConfigSet set;
    set.config = std::make_shared<const GatewayConfig>(core_.config);
    set.tokens = {{"owner", Secret(kAll), {"read", "prompt"}}, {"viewer", Secret(kReader), {"read"}}};
    core_.On([&] {
      llm_ = std::make_unique<llm::Llm>(core_.loop(), clock_, core_.metrics(), core_.paths().ProviderHealth());
      sessions_ = std::make_unique<sessions::Sessions>(core_.loop(), clock_, core_.paths(), core_.roster(), core_.calls(), core_.audit(), core_.metrics(), *llm_);
      api_ = std::make_unique<Api>(core_.loop(), core_.roster(), core_.calls(), core_.audit(), clock_, Listen{"127.0.0.1", 0});
      api_->SetConfig(set);
      api_->SetSessions(sessions_.get());
    });
    server_ = std::move(*http::Server::Start("127.0.0.1", 0, api_->limits(), [this](http::Request request, std::shared_ptr<http::Responder> responder) {
      api_->Handle(std::move(request), std::move(responder));
    }));
  }
  ~SessionRoutesTest() override {
    core_.On([&] { api_->CancelAll(); });
    server_.reset();
    core_.On([&] {
      api_.reset();
      sessions_.reset();
      llm_.reset();
    });
  }

  static std::string Bytes(const std::string& method, const std::string& path, const std::string& body = "", const std::string& token = kAll,
                           const std::string& headers = "Content-Type: application/json\r\n") {
    return method + " " + path + " HTTP/1.1\r\nHost: localhost:1\r\nAuthorization: Bearer " + token + "\r\n" + headers +
           (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") + "\r\n" + body;
  }
  RawClient::Answer Ask(const std::string& method, const std::string& path, const std::string& body = "", const std::string& token = kAll,
                        const std::string& headers = "Content-Type: application/json\r\n") {
    RawClient client(server_->port());
    client.Send(Bytes(method, path, body, token, headers));
    return client.ReadAnswer();
  }
  template <typename F>
  auto Driven(F&& fn) {
    return core_.On([&] { return fn(*DrivenSessions::current); });
  }
  size_t Watchers() {
    return Driven([](DrivenSessions& driven) { return driven.watchers.size(); });
  }
  std::vector<std::string> Aborted() {
    return Driven([](DrivenSessions& driven) { return driven.aborted; });
  }
  void Tell(const sessions::Event& event) {
    Driven([&](DrivenSessions& driven) { driven.Tell(event); });
  }
  // Sends a prompt and lets it be accepted as p1 of s1.
  void Prompt(RawClient& client, const std::string& body = R"({"text":"hi"})") {
    client.Send(Bytes("POST", kBase + "/prompt", body));
    ASSERT_TRUE(Eventually([&] { return Driven([](DrivenSessions& driven) { return driven.accept.size(); }) == 1; }));
    Driven([](DrivenSessions& driven) { driven.accept[0](sessions::Accepted{"s1", "p1", "4-9", 1}); });
  }

  Core core_;
  RealClock clock_;
  std::unique_ptr<llm::Llm> llm_;
  std::unique_ptr<sessions::Sessions> sessions_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<http::Server> server_;
};

TEST_F(SessionRoutesTest, EachRouteOfTheTableIsHeldByTokenScopeMethodAndSite) {
  for (const RouteRow& row : Routes()) {
    std::string path(row.path);
    for (const char* name : {"default", "a1", "s1"}) {
      if (const size_t star = path.find('*'); star != std::string::npos) path.replace(star, 1, name);
    }
    const std::string method(row.method);
    const std::string what = method + " " + path;
    EXPECT_EQ(Ask(method, path, "{}", "wrong-token-0123456789").status, 401) << what;
    EXPECT_EQ(Ask(method, path, "{}", kAll, "Origin: http://evil.example\r\nContent-Type: application/json\r\n").status, 403) << what;
    if (std::string_view(row.scope) != "read") {
      const auto refused = Ask(method, path, "{}", kReader);
      EXPECT_EQ(refused.status, 403) << what;
      EXPECT_THAT(refused.body, HasSubstr("does not have scope " + std::string(row.scope)));
    }
    const auto wrong = Ask("PATCH", path, "{}");
    EXPECT_EQ(wrong.status, 405) << what;
    EXPECT_THAT(wrong.head, HasSubstr("Allow: "));
    EXPECT_THAT(wrong.head, HasSubstr(method));
  }
  EXPECT_TRUE(Driven([](DrivenSessions& driven) { return driven.calls.empty() && driven.submitted.empty() && driven.after.empty(); }));
}

TEST_F(SessionRoutesTest, AStreamIsNothingToAskTheHeadOf) {
  RawClient client(server_->port());
  client.Send(Bytes("HEAD", kBase + "/sessions/s1/events"));
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"), HasSubstr("HTTP/1.1 405"));
}

TEST_F(SessionRoutesTest, WithoutSessionsTheRoutesAnswer503) {
  core_.On([&] { api_->SetSessions(nullptr); });
  EXPECT_EQ(Ask("GET", kBase + "/sessions").status, 503);
  EXPECT_EQ(Ask("POST", kBase + "/prompt", R"({"text":"hi"})").status, 503);
}

TEST_F(SessionRoutesTest, AnAgentThatIsNotThereIs404) {
  EXPECT_EQ(Ask("GET", "/v1/namespaces/default/agents/a2/sessions").status, 404);
  EXPECT_EQ(Ask("POST", "/v1/namespaces/default/agents/a2/prompt", R"({"text":"hi"})").status, 404);
}

TEST_F(SessionRoutesTest, EveryPlainRouteSaysItsPart) {
  const auto list = Ask("GET", kBase + "/sessions", "", kReader);
  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(json::parse(list.body), json::parse(R"({"items":[{"id":"s1","title":"Title","createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-02T00:00:00Z","model":"p/m",
    "thinkingLevel":"high","state":"idle","queued":0,"turns":3,"usage":{"input":10,"output":20,"cacheRead":3,"cacheWrite":4,"costUsd":0.25}}]})"));
  EXPECT_EQ(Ask("GET", kBase + "/sessions/s1?limit=5").body, "{\"id\":\"s1\",\"messages\":[]}\n");
  EXPECT_EQ(Ask("GET", kBase + "/sessions/s1").status, 200);
  EXPECT_EQ(Ask("POST", kBase + "/sessions").status, 201);
  EXPECT_EQ(Ask("POST", kBase + "/sessions", R"({"model":"a/b","thinkingLevel":"low"})").status, 201);
  EXPECT_EQ(Ask("POST", kBase + "/sessions/s1/model", R"({"model":"a/b"})").status, 200);
  for (const auto& [method, path] : {std::pair{"DELETE", "/sessions/s1"}, std::pair{"POST", "/sessions/s1/abort"}, std::pair{"POST", "/sessions/s1/compact"}}) {
    const auto done = Ask(method, kBase + path);
    EXPECT_EQ(done.status, 204) << path;
    EXPECT_EQ(done.head.find("Content-Length"), std::string::npos);
  }
  EXPECT_EQ(Ask("POST", kBase + "/sessions/s1/abort", R"({"prompt":"p7"})").status, 204);
  EXPECT_THAT(Driven([](DrivenSessions& driven) { return driven.calls; }),
              ::testing::ElementsAre("list", "show s1 5", "show s1 0", "create", "create a/b low", "model s1 a/b", "delete s1", "abort", "compact s1 owner", "abort"));
  EXPECT_THAT(Aborted(), ::testing::ElementsAre("", "p7"));
}

TEST_F(SessionRoutesTest, ErrorsOfSessionsHaveTheirStatus) {
  Driven([](DrivenSessions& driven) { driven.refuse = Error{Code::kConflict, "a turn runs"}; });
  EXPECT_EQ(Ask("POST", kBase + "/sessions/s1/compact").status, 409);
  Driven([](DrivenSessions& driven) { driven.refuse = Error{Code::kNotFound, "no session s1"}; });
  EXPECT_EQ(Ask("GET", kBase + "/sessions/s1").status, 404);
  EXPECT_EQ(Ask("GET", kBase + "/sessions/s1/events").status, 404);
  Driven([](DrivenSessions& driven) { driven.refuse = Error{Code::kInvalid, "model: agent a1 has no choice x/y"}; });
  const auto invalid = Ask("POST", kBase + "/sessions/s1/model", R"({"model":"x/y"})");
  EXPECT_EQ(invalid.status, 400);
  EXPECT_EQ(json::parse(invalid.body)["error"]["field"], "model");
}

TEST_F(SessionRoutesTest, BodiesAreJsonAndBounded) {
  EXPECT_EQ(Ask("POST", kBase + "/prompt", R"({"text":"hi"})", kAll, "Content-Type: text/plain\r\n").status, 415);
  EXPECT_EQ(Ask("POST", kBase + "/prompt", "", kAll).status, 400);
  EXPECT_EQ(Ask("POST", kBase + "/sessions", "a=b", kAll, "Content-Type: application/x-www-form-urlencoded\r\n").status, 415);
  const auto unknown = Ask("POST", kBase + "/prompt", R"({"text":"hi","detatch":true})");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_EQ(json::parse(unknown.body)["error"]["field"], "detatch");
  const auto sized = [](size_t bytes) { return R"({"text":")" + std::string(bytes, 'a') + "\"}"; };
  EXPECT_EQ(Ask("POST", kBase + "/prompt", sized(3u << 20)).status, 400) << "taken, and then the text is too long";
  EXPECT_EQ(Ask("POST", kBase + "/prompt", sized(9u << 20)).status, 413);
  EXPECT_EQ(Ask("POST", kBase + "/prompt", sized(3u << 20), kReader).status, 413) << "who may not prompt sends no images";
  EXPECT_EQ(Ask("POST", kBase + "/sessions", sized(3u << 20)).status, 413);
  EXPECT_EQ(Ask("GET", kBase + "/sessions/s1?limit=many").status, 400);
  EXPECT_EQ(Ask("GET", kBase + "/sessions/s1?limt=1").status, 400);
}

TEST_F(SessionRoutesTest, APromptsStreamBeginsWithAcceptedAndEndsWithItsTurn) {
  RawClient client(server_->port());
  Prompt(client, R"({"text":"hi","session":"s1","steer":true,"thinkingLevel":"low"})");
  const std::string head = client.ReadUntil("\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_THAT(head, HasSubstr("Content-Type: text/event-stream"));
  EXPECT_THAT(client.ReadUntil("\n\n"), HasSubstr("event: accepted\ndata: {\"session\":\"s1\",\"prompt\":\"p1\",\"ahead\":1}\n\n"));
  Driven([](DrivenSessions& driven) {
    EXPECT_THAT(driven.after, ::testing::ElementsAre("4-9"));
    EXPECT_EQ(driven.submitted[0].actor, "owner");
    EXPECT_EQ(driven.submitted[0].agent, Core::RefOf("a1"));
    EXPECT_TRUE(driven.submitted[0].steer);
  });
  Tell(Make("5-0", "text", R"({"text":"another's"})", false, "p0"));
  Tell(Make("6-0", "turn", R"({"prompt":"p1"})"));
  Tell(Make("6-1", "text", R"({"text":"Hello"})"));
  EXPECT_THAT(client.ReadUntil("Hello\"}\n\n"), ::testing::Not(HasSubstr("another's")));
  Tell(Make("6-2", "done", R"({"prompt":"p1","stop":"end"})", true));
  EXPECT_THAT(client.ReadUntil("0\r\n\r\n"), HasSubstr("id: 6-2\nevent: done\ndata: {\"prompt\":\"p1\",\"stop\":\"end\"}\n\n"));
  EXPECT_EQ(Watchers(), 0u);
  EXPECT_TRUE(Aborted().empty());
  client.Send(Bytes("GET", kBase + "/sessions"));
  EXPECT_EQ(client.ReadAnswer().status, 200) << "the connection is good for more";
}

TEST_F(SessionRoutesTest, APromptThatIsRefusedHasAStatus) {
  RawClient client(server_->port());
  client.Send(Bytes("POST", kBase + "/prompt", R"({"text":"hi"})"));
  ASSERT_TRUE(Eventually([&] { return Driven([](DrivenSessions& driven) { return driven.accept.size(); }) == 1; }));
  Driven([](DrivenSessions& driven) { driven.accept[0](Fail(Code::kExhausted, "too many prompts wait")); });
  EXPECT_EQ(client.ReadAnswer().status, 429);
}

TEST_F(SessionRoutesTest, AClientThatLeavesTakesItsPromptBack) {
  RawClient client(server_->port());
  Prompt(client);
  client.ReadUntil("\n\n");
  client.Close();
  EXPECT_TRUE(Eventually([&] { return Aborted() == std::vector<std::string>{"p1"}; }));
  EXPECT_EQ(Watchers(), 0u);
}

TEST_F(SessionRoutesTest, AClientThatLeavesBeforeItsPromptIsAcceptedTakesItBackToo) {
  RawClient client(server_->port());
  client.Send(Bytes("POST", kBase + "/prompt", R"({"text":"hi"})"));
  ASSERT_TRUE(Eventually([&] { return Driven([](DrivenSessions& driven) { return driven.accept.size(); }) == 1; }));
  ASSERT_EQ(core_.On([&] { return api_->streams(); }), 1u);
  client.Close();
  ASSERT_TRUE(Eventually([&] { return core_.On([&] { return api_->streams(); }) == 0; }));
  EXPECT_TRUE(Aborted().empty());
  Driven([](DrivenSessions& driven) { driven.accept[0](sessions::Accepted{"s1", "p1", "0-0", 0}); });
  EXPECT_THAT(Aborted(), ::testing::ElementsAre("p1"));
  EXPECT_EQ(Watchers(), 0u);
}

TEST_F(SessionRoutesTest, ADetachedPromptGoesOnWithoutItsClient) {
  RawClient client(server_->port());
  Prompt(client, R"({"text":"hi","detach":true})");
  client.ReadUntil("\n\n");
  client.Close();
  EXPECT_TRUE(Eventually([&] { return Watchers() == 0; }));
  EXPECT_TRUE(Aborted().empty());
}

TEST_F(SessionRoutesTest, WithoutAStreamTheTurnIsOneObject) {
  RawClient client(server_->port());
  Prompt(client, R"({"text":"hi","stream":false})");
  Tell(Make("5-0", "turn", "{}"));
  Tell(Make("5-1", "text", R"({"text":"I look."})"));
  Tell(Make("5-2", "usage", R"({"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"costUsd":0.5})"));
  Tell(Make("5-3", "model", R"({"model":"p/m"})"));
  Tell(Make("5-4", "text", R"({"text":"It is "})"));
  Tell(Make("5-5", "text", R"({"text":"\"42\"."})"));
  Tell(Make("5-6", "usage", R"({"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"costUsd":0.5})"));
  Tell(Make("5-7", "done", R"({"prompt":"p1","stop":"end"})", true));
  const auto answer = client.ReadAnswer();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(json::parse(answer.body), json::parse(R"({"session":"s1","prompt":"p1","text":"It is \"42\".","stop":"end","error":null,
    "usage":{"input":2,"output":4,"cacheRead":6,"cacheWrite":8,"costUsd":1.0}})"));
}

TEST_F(SessionRoutesTest, WithoutAStreamAFailureIsInTheObject) {
  RawClient client(server_->port());
  Prompt(client, R"({"text":"hi","stream":false})");
  Tell(Make("5-1", "error", R"({"prompt":"p1","code":"rate_limit","message":"slow down","retryAfterMs":1500})", true));
  const json answer = json::parse(client.ReadAnswer().body);
  EXPECT_EQ(answer["stop"], nullptr);
  EXPECT_EQ(answer["error"], json::parse(R"({"code":"rate_limit","message":"slow down","retryAfterMs":1500})"));
}

TEST_F(SessionRoutesTest, AFollowerGoesOnWhereItsHeaderOrQuerySays) {
  for (const auto& [query, header, want] : {std::tuple{"", "", ""}, std::tuple{"?after=0-0", "", "0-0"}, std::tuple{"", "Last-Event-ID: 3-7\r\n", "3-7"},
                                            std::tuple{"?after=0-0", "Last-Event-ID: 3-7\r\n", "3-7"}}) {
    RawClient client(server_->port());
    client.Send(Bytes("GET", kBase + "/sessions/s1/events" + query, "", kReader, header));
    EXPECT_THAT(client.ReadUntil("\r\n\r\n"), HasSubstr("text/event-stream")) << "at once, before anything happens";
    EXPECT_EQ(Driven([](DrivenSessions& driven) { return driven.after.back(); }), want);
  }
  ASSERT_TRUE(Eventually([&] { return Watchers() == 0; }));
  for (const auto& [query, header] : {std::pair{"?after=x", ""}, std::pair{"?after=", ""}, std::pair{"?aftr=0-0", ""}, std::pair{"", "Last-Event-ID: 7\r\n"},
                                      std::pair{"", "Last-Event-ID: 1-99999999999999999999\r\n"}}) {
    EXPECT_EQ(Ask("GET", kBase + "/sessions/s1/events" + query, "", kAll, header).status, 400) << query << header;
  }
}

TEST_F(SessionRoutesTest, AFollowerSeesEveryTurnUntilItLeaves) {
  RawClient client(server_->port());
  client.Send(Bytes("GET", kBase + "/sessions/s1/events"));
  client.ReadUntil("\r\n\r\n");
  ASSERT_EQ(Watchers(), 1u);
  Tell(Make("1-9", "done", "{}", true, "p1"));
  Tell(Make("2-0", "turn", "{}", false, "p2"));
  EXPECT_THAT(client.ReadUntil("event: turn\ndata: {}\n\n"), HasSubstr("id: 1-9\nevent: done"));
  client.Close();
  EXPECT_TRUE(Eventually([&] { return Watchers() == 0; }));
  EXPECT_TRUE(Aborted().empty()) << "who only watches takes nothing back";
}

TEST_F(SessionRoutesTest, AFollowerOfASessionThatGoesIsTold) {
  RawClient client(server_->port());
  client.Send(Bytes("GET", kBase + "/sessions/s1/events"));
  client.ReadUntil("\r\n\r\n");
  Driven([](DrivenSessions& driven) { driven.watchers.begin()->second->OnClosed({Code::kNotFound, "the session was\ndeleted"}); });
  EXPECT_THAT(client.ReadUntil("0\r\n\r\n"), HasSubstr(": the session was deleted\n\n"));
}

TEST_F(SessionRoutesTest, AReaderThatIsTooSlowIsToldAndItsPromptTakenBack) {
  RawClient client(server_->port());
  Prompt(client);
  const std::string piece = R"({"text":")" + std::string(64 << 10, 'x') + "\"}";
  size_t told = 0;
  while (told < 2000 && Watchers() > 0) Tell(Make("5-" + std::to_string(++told), "text", piece));
  EXPECT_LT(told, 500u) << "held by 1 MiB and the kernel's buffers";
  EXPECT_THAT(Aborted(), ::testing::ElementsAre("p1"));
  const std::string all = client.ReadUntil("\r\n0\r\n\r\n");
  EXPECT_THAT(all.substr(all.size() - 300), HasSubstr(R"("code":"slow_reader")"));
  EXPECT_TRUE(all.ends_with("\r\n0\r\n\r\n"));
}

TEST_F(SessionRoutesTest, AFollowerThatIsTooSlowIsToldHowToGoOn) {
  RawClient client(server_->port());
  client.Send(Bytes("GET", kBase + "/sessions/s1/events"));
  ASSERT_TRUE(Eventually([&] { return Watchers() == 1; }));
  const std::string piece = R"({"text":")" + std::string(64 << 10, 'x') + "\"}";
  for (size_t told = 0; told < 2000 && Watchers() > 0; ++told) Tell(Make("5-" + std::to_string(told), "text", piece));
  const std::string all = client.ReadUntil("\r\n0\r\n\r\n");
  EXPECT_THAT(all.substr(all.size() - 200), HasSubstr("Last-Event-ID"));
}

TEST_F(SessionRoutesTest, AtTheGatewaysStopEveryClientIsTold) {
  RawClient prompt(server_->port()), follower(server_->port()), plain(server_->port());
  Prompt(prompt);
  prompt.ReadUntil("\n\n");
  follower.Send(Bytes("GET", kBase + "/sessions/s1/events"));
  follower.ReadUntil("\r\n\r\n");
  plain.Send(Bytes("POST", kBase + "/prompt", R"({"text":"hi","stream":false})"));
  ASSERT_TRUE(Eventually([&] { return Driven([](DrivenSessions& driven) { return driven.accept.size(); }) == 2; }));
  core_.On([&] { api_->CancelAll(); });
  EXPECT_THAT(prompt.ReadUntil("0\r\n\r\n"), HasSubstr(R"("code":"interrupted","message":"the gateway stops")"));
  EXPECT_THAT(follower.ReadUntil("0\r\n\r\n"), HasSubstr(": the gateway stops"));
  EXPECT_EQ(plain.ReadAnswer().status, 503);
  EXPECT_EQ(Watchers(), 0u);
  EXPECT_EQ(Ask("GET", kBase + "/sessions").status, 503);
}

}  // namespace beige
