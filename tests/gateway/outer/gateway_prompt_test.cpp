// Prompts over HTTP to the shipped gateway, which asks the scripted provider.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gateway/llm/upstream.h"
#include "tests/gateway/outer/gateway_process.h"

namespace beige {
namespace {
using gateway_test::Eventually;
using gateway_test::GatewayProcess;
using http_test::RawClient;
using nlohmann::json;
using ::testing::HasSubstr;

const std::string kBase = "/v1/namespaces/default/agents/a1";
const char* const kModels[] = {"instant", "tokens:50", "paced:20", "hang", "flood", "slowfirst:300"};

// The events of a stream as far as they are whole: id, name, data.
struct Said {
  std::string id, name;
  json data;
};
std::vector<Said> EventsOf(const std::string& text) {
  std::vector<Said> events;
  Said now;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("id: ")) now.id = line.substr(4);
    if (line.starts_with("event: ")) now.name = line.substr(7);
    if (line.starts_with("data: ")) now.data = json::parse(line.substr(6), nullptr, false);
    if (line.empty() && !now.name.empty()) events.push_back(std::exchange(now, {}));
  }
  return events;
}
std::string TextOf(const std::vector<Said>& events) {
  std::string text;
  for (const Said& event : events) {
    if (event.name == "text") text += event.data.value("text", "");
  }
  return text;
}
const Said* Find(const std::vector<Said>& events, const std::string& name) {
  const auto found = std::find_if(events.begin(), events.end(), [&](const Said& event) { return event.name == name; });
  return found == events.end() ? nullptr : &*found;
}
std::string Fifty() {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "tok" + std::to_string(i) + " ";
  return text;
}
}  // namespace

class GatewayPromptTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    upstream_ = new llm::Upstream;
    gateway_ = new GatewayProcess;
    std::string models;
    for (const std::string model : {"instant", "tokens:50", "paced:20", "hang", "flood", "slowfirst:300", "status:401"}) models += "        \"" + model + "\": {contextWindow: 200000, maxTokens: 1000}\n";
    gateway_->WriteConfig("llm:\n  providers:\n    p:\n      api: openai-completions\n      baseUrl: http://127.0.0.1:" + std::to_string(upstream_->port()) + "/v1\n      models:\n" + models);
    ASSERT_TRUE(gateway_->Start()) << gateway_->Log();
    operator_ = gateway_->ConnectOperator().release();
    admin::Grant grant = GatewayProcess::GrantOf("a1", {});
    for (const char* model : kModels) grant.model_choices.push_back({.name = "p/" + std::string(model)});
    admin::Grant unpaid = GatewayProcess::GrantOf("unpaid", {});
    unpaid.model_choices.push_back({.name = "p/status:401"});
    operator_->Send(admin::Sync{{grant, unpaid}});
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(operator_->Await<admin::InForce>()) << gateway_->Log();
  }
  static void TearDownTestSuite() {
    delete operator_;
    delete gateway_;
    delete upstream_;
  }
  void SetUp() override { upstream_->Reset(); }

  static std::string Bytes(const std::string& method, const std::string& path, const json& body = nullptr, const std::string& headers = "") {
    const std::string text = body.is_null() ? "" : body.dump();
    return method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + gateway_->Token() + "\r\n" + headers +
           (text.empty() ? "" : "Content-Type: application/json\r\nContent-Length: " + std::to_string(text.size()) + "\r\n") + "\r\n" + text;
  }
  static RawClient Client() { return RawClient(static_cast<uint16_t>(gateway_->Port("httpPort"))); }
  static RawClient::Answer Ask(const std::string& method, const std::string& path, const json& body = nullptr) {
    RawClient client = Client();
    client.Send(Bytes(method, path, body));
    return client.ReadAnswer(std::chrono::seconds(20));
  }
  // The whole stream of one prompt.
  static std::vector<Said> Prompt(const json& body) {
    RawClient client = Client();
    client.Send(Bytes("POST", kBase + "/prompt", body));
    const std::string answer = client.ReadUntil("\r\n0\r\n\r\n", std::chrono::seconds(20));
    EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200 OK"));
    return EventsOf(Unchunked(answer));
  }
  // Chunks begin and end anywhere; what is around them is no line of ours.
  static std::string Unchunked(const std::string& answer) {
    std::string out;
    size_t at = answer.find("\r\n\r\n");
    for (at = at == std::string::npos ? 0 : at + 4; at < answer.size();) {
      const size_t end = answer.find("\r\n", at);
      const size_t size = end == std::string::npos ? 0 : std::stoul(answer.substr(at, end - at), nullptr, 16);
      if (size == 0) break;
      out += answer.substr(end + 2, size);
      at = end + 2 + size + 2;
    }
    return out;
  }

  static llm::Upstream* upstream_;
  static GatewayProcess* gateway_;
  static gateway_test::Operator* operator_;
};
llm::Upstream* GatewayPromptTest::upstream_ = nullptr;
GatewayProcess* GatewayPromptTest::gateway_ = nullptr;
gateway_test::Operator* GatewayPromptTest::operator_ = nullptr;

TEST_F(GatewayPromptTest, ATurnIsStreamedFromAcceptedToDone) {
  const auto events = Prompt({{"text", "Hi"}, {"model", "p/tokens:50"}});
  ASSERT_GE(events.size(), 4u);
  EXPECT_EQ(events.front().name, "accepted");
  EXPECT_EQ(events.front().id, "");
  EXPECT_EQ(events.back().name, "done");
  EXPECT_EQ(events.back().data["stop"], "end");
  EXPECT_EQ(TextOf(events), Fifty());
  const Said* usage = Find(events, "usage");
  ASSERT_NE(usage, nullptr);
  EXPECT_EQ(usage->data["output"], 5);
}

TEST_F(GatewayPromptTest, WithoutAStreamTheAnswerIsOneObjectAndTheSessionGoesOn) {
  const auto first = Ask("POST", kBase + "/prompt", {{"text", "Hi"}, {"model", "p/instant"}, {"stream", false}});
  ASSERT_EQ(first.status, 200) << first.body;
  const json one = json::parse(first.body);
  EXPECT_EQ(one["text"], "ok");
  EXPECT_EQ(one["error"], nullptr);
  const std::string session = one["session"];
  const json two = json::parse(Ask("POST", kBase + "/prompt", {{"text", "Again"}, {"session", session}, {"stream", false}}).body);
  EXPECT_EQ(two["session"], session);
  const json asked = upstream_->Stats()["requests"];
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_THAT(asked[1].dump(), HasSubstr("Again"));
  EXPECT_THAT(asked[1].dump(), HasSubstr("Hi")) << "what was said before goes along";

  const json shown = json::parse(Ask("GET", kBase + "/sessions/" + session).body);
  EXPECT_EQ(shown["id"], session);
  EXPECT_GE(shown["messages"].size(), 4u);
  EXPECT_EQ(json::parse(Ask("GET", kBase + "/sessions").body)["items"][0]["id"], session);
  EXPECT_EQ(Ask("DELETE", kBase + "/sessions/" + session).status, 204);
  EXPECT_EQ(Ask("GET", kBase + "/sessions/" + session).status, 404);
}

TEST_F(GatewayPromptTest, AModelThatFailsIsAnErrorWithItsClass) {
  const auto answer = Ask("POST", "/v1/namespaces/default/agents/unpaid/prompt", {{"text", "Hi"}, {"stream", false}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json turn = json::parse(answer.body);
  EXPECT_EQ(turn["stop"], nullptr);
  EXPECT_EQ(turn["error"]["code"], "auth");
}

TEST_F(GatewayPromptTest, AFollowerGoesOnBehindTheLastEventThatItHasSeen) {
  const auto whole = Prompt({{"text", "Hi"}, {"model", "p/tokens:50"}});
  ASSERT_FALSE(whole.empty());
  const std::string session = whole.front().data["session"];
  size_t seen = 0;
  while (seen < whole.size() && whole[seen].name != "text") ++seen;
  seen += 20;
  ASSERT_LT(seen + 1, whole.size());
  for (const bool by_header : {true, false}) {
    RawClient client = Client();
    client.Send(Bytes("GET", kBase + "/sessions/" + session + "/events" + (by_header ? "" : "?after=" + whole[seen].id), nullptr,
                      by_header ? "Last-Event-ID: " + whole[seen].id + "\r\n" : ""));
    std::string got = client.ReadUntil("event: done");
    got += client.ReadUntil("\n\n\r\n");
    const auto rest = EventsOf(Unchunked(got));
    // Pieces of text that were missed come as one.
    std::string missed;
    size_t next = seen + 1;
    while (whole[next].name == "text") missed += whole[next++].data["text"].get<std::string>();
    ASSERT_EQ(rest.size(), whole.size() - next + 1) << got;
    EXPECT_EQ(rest[0].id, whole[next - 1].id);
    EXPECT_EQ(rest[0].data, json({{"text", missed}}));
    for (size_t i = 1; i < rest.size(); ++i) {
      EXPECT_EQ(rest[i].id, whole[next + i - 1].id);
      EXPECT_EQ(rest[i].data, whole[next + i - 1].data);
    }
  }
}

TEST_F(GatewayPromptTest, AClientThatLeavesEndsTheRequestToTheModelWithinASecond) {
  RawClient client = Client();
  client.Send(Bytes("POST", kBase + "/prompt", {{"text", "Hi"}, {"model", "p/paced:20"}}));
  ASSERT_THAT(client.ReadUntil("event: text"), HasSubstr("event: text"));
  EXPECT_EQ(upstream_->Stats()["open"], 1);
  client.Close();
  EXPECT_TRUE(Eventually([&] { return upstream_->Stats()["open"] == 0; }, std::chrono::seconds(1)));
  EXPECT_EQ(upstream_->Stats()["aborted"], 1);
}

TEST_F(GatewayPromptTest, ADetachedTurnOutlivesItsClientAndCanBeAborted) {
  RawClient client = Client();
  client.Send(Bytes("POST", kBase + "/prompt", {{"text", "Hi"}, {"model", "p/hang"}, {"detach", true}}));
  const std::string head = client.ReadUntil("\n\n\r\n");
  const auto accepted = EventsOf(Unchunked(head));
  ASSERT_GE(accepted.size(), 1u) << head;
  const std::string session = accepted[0].data["session"];
  ASSERT_TRUE(Eventually([&] { return upstream_->Stats()["open"] == 1; }));
  client.Close();
  // A request behind it is answered after the server has seen the other client leave.
  EXPECT_EQ(json::parse(Ask("GET", kBase + "/sessions/" + session).body)["state"], "running");
  EXPECT_EQ(upstream_->Stats()["open"], 1);
  EXPECT_EQ(Ask("POST", kBase + "/sessions/" + session + "/abort").status, 204);
  EXPECT_EQ(json::parse(Ask("GET", kBase + "/sessions/" + session).body)["state"], "idle");
  EXPECT_TRUE(Eventually([&] { return upstream_->Stats()["open"] == 0; }, std::chrono::seconds(1)));
}

TEST_F(GatewayPromptTest, AReaderThatDoesNotReadIsLetGoAndItsTurnAborted) {
  RawClient client = Client();
  client.Send(Bytes("POST", kBase + "/prompt", {{"text", "Hi"}, {"model", "p/flood"}}));
  ASSERT_TRUE(Eventually([&] { return upstream_->Stats()["requests"].size() == 1; }));
  ASSERT_TRUE(Eventually([&] { return upstream_->Stats()["open"] == 0; }));
  const std::string all = client.ReadUntil("\r\n0\r\n\r\n");
  EXPECT_THAT(all.substr(all.size() > 400 ? all.size() - 400 : 0), HasSubstr("slow_reader"));
}

TEST_F(GatewayPromptTest, AModelThatIsNoneOfTheAgentsChoicesIsRefusedByItsField) {
  const auto answer = Ask("POST", kBase + "/prompt", {{"text", "Hi"}, {"model", "p/other"}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(json::parse(answer.body)["error"]["field"], "model") << answer.body;
  EXPECT_EQ(Ask("GET", kBase + "/sessions/..%2f..%2fx").status, 400);
  EXPECT_EQ(Ask("GET", kBase + "/sessions/none").status / 100, 4);
}

TEST_F(GatewayPromptTest, AQueuedPromptsStreamHasItsOwnTurnOnly) {
  RawClient first = Client();
  first.Send(Bytes("POST", kBase + "/prompt", {{"text", "One"}, {"model", "p/slowfirst:300"}}));
  const auto accepted = EventsOf(Unchunked(first.ReadUntil("\n\n\r\n")));
  ASSERT_GE(accepted.size(), 1u);
  const auto queued = Prompt({{"text", "Two"}, {"session", accepted[0].data["session"]}, {"model", "p/instant"}});
  ASSERT_GE(queued.size(), 3u);
  EXPECT_EQ(queued[0].data["ahead"], 1);
  EXPECT_EQ(queued[1].name, "turn");
  EXPECT_EQ(queued[1].data["text"], "Two");
  EXPECT_EQ(queued.back().data["prompt"], queued[0].data["prompt"]);
  EXPECT_THAT(first.ReadUntil("0\r\n\r\n"), HasSubstr("event: done"));
}

TEST_F(GatewayPromptTest, BeigesOwnRouteGoesOnInTheSessionOfItsKey) {
  const std::string path = "/api/agents/a1/prompt";
  EXPECT_EQ(Ask("POST", path, {{"message", "First"}, {"sessionKey", "tui:a1:1"}}).body, "{\"response\":\"ok\"}\n");
  EXPECT_EQ(Ask("POST", path, {{"message", "Second"}, {"sessionKey", "tui:a1:1"}}).status, 200);
  EXPECT_EQ(Ask("POST", path, {{"message", "Third"}, {"sessionKey", "tui:a1:2"}}).status, 200);
  const json asked = upstream_->Stats()["requests"];
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_THAT(asked[1].dump(), HasSubstr("First"));
  EXPECT_THAT(asked[2].dump(), ::testing::Not(HasSubstr("First")));
  EXPECT_EQ(Ask("POST", path, {{"message", ""}}).status, 400);
  EXPECT_EQ(Ask("POST", "/api/agents/unpaid/prompt", {{"message", "Hi"}}).status, 502);
  EXPECT_EQ(Ask("POST", "/api/agents/nobody/prompt", {{"message", "Hi"}}).status, 404);
}

}  // namespace beige
