// The four dialects against the scripted provider, through the real transport: answers, and each way in which one can go wrong.
#include <gmock/gmock.h>

#include "tests/gateway/llm/llm_fixture.h"

namespace beige::llm {
namespace {
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using nlohmann::json;
using std::chrono::milliseconds;

const std::vector<std::string> kProviders = {"anthropic", "chat", "responses", "google"};
}  // namespace

class LlmAnswersTest : public LlmTest {};

TEST_F(LlmAnswersTest, EachDialectAnswersWithTextAndUsage) {
  for (const std::string& provider : kProviders) {
    config_.llm.providers[provider].models["instant"].cost = {1.0, 10.0, 0.1, 2.0};
    const auto asked = Answer({provider + "/instant"});
    EXPECT_EQ(asked->Text(), "ok") << provider;
    ASSERT_THAT(asked->Of<Started>(), SizeIs(1)) << provider;
    EXPECT_EQ(asked->Of<Started>()[0].asked, (ModelName{provider, "instant"}));
    ASSERT_THAT(asked->Of<Usage>(), SizeIs(1)) << provider;
    const Usage usage = asked->Of<Usage>()[0];
    const bool writes = provider == "anthropic";  // the only dialect that tells
    EXPECT_EQ(usage.input, writes ? 10 : 13) << provider;
    EXPECT_EQ(usage.cache_read, 4) << provider;
    EXPECT_EQ(usage.cache_write, writes ? 3 : 0) << provider;
    EXPECT_EQ(usage.output, 5) << provider;
    EXPECT_NEAR(usage.cost_usd, ((writes ? 10 : 13) * 1.0 + 4 * 0.1 + (writes ? 3 * 2.0 : 0) + 5 * 10.0) / 1e6, 1e-12);
    EXPECT_THAT(asked->Described().back(), HasSubstr("stopped end")) << provider;
    EXPECT_EQ(Metric("beige_llm_requests_total{agent=\"a1\",model=\"instant\",namespace=\"default\",outcome=\"ok\",provider=\"" + provider + "\"}"), 1);
    EXPECT_EQ(Metric("beige_llm_tokens_total{agent=\"a1\",kind=\"output\",model=\"instant\",namespace=\"default\",provider=\"" + provider + "\"}"), 5);
    EXPECT_GT(Metric("beige_llm_cost_usd_total{agent=\"a1\",model=\"instant\",namespace=\"default\",provider=\"" + provider + "\"}"), 0);
    EXPECT_EQ(Metric("beige_llm_time_to_first_token_seconds_count{model=\"instant\",provider=\"" + provider + "\"}"), 1);
  }
}

TEST_F(LlmAnswersTest, EachDialectThinksAndCallsToolsInParallel) {
  for (const std::string& provider : kProviders) {
    EXPECT_THAT(Answer({provider + "/think"})->Described(), Contains("thinking Let me see.")) << provider;
    const auto asked = Answer({provider + "/manytools"});
    const auto calls = asked->Of<ToolCallEnd>();
    ASSERT_THAT(calls, SizeIs(5)) << provider;
    std::set<std::string> ids;
    for (const ToolCallEnd& call : calls) {
      EXPECT_EQ(call.call.name, "exec");
      EXPECT_EQ(json::parse(call.call.arguments)["command"], "true");
      ids.insert(call.call.id);
    }
    EXPECT_THAT(ids, SizeIs(5)) << provider;
    EXPECT_EQ(asked->Of<Stopped>()[0].reason, StopReason::kToolUse) << provider;
  }
}

TEST_F(LlmAnswersTest, ACallThatIsNotWholeIsNeverGivenForRunning) {
  for (const std::string& provider : kProviders) {
    for (const char* behaviour : {"badtool", "cuttool", "cutcall"}) {
      const auto asked = Answer({provider + "/" + behaviour});
      EXPECT_THAT(asked->Of<ToolCallEnd>(), SizeIs(0)) << provider << " " << behaviour;
    }
  }
}

TEST_F(LlmAnswersTest, ALongAnswerComesWholeAndInOrder) {
  std::string want;
  for (int i = 0; i < 1000; ++i) want += "tok" + std::to_string(i) + " ";
  for (const std::string& provider : kProviders) EXPECT_EQ(Answer({provider + "/tokens:1000"})->Text(), want) << provider;
}

TEST_F(LlmAnswersTest, EachOddEndingHasItsClass) {
  const std::pair<const char*, ErrorClass> rows[] = {
      {"r429", ErrorClass::kRateLimit},     {"r429na", ErrorClass::kRateLimit},  {"overload", ErrorClass::kOverloaded}, {"status:500", ErrorClass::kOverloaded},
      {"status:401", ErrorClass::kAuth},    {"status:404", ErrorClass::kBadRequest}, {"context", ErrorClass::kContextLength}, {"redirect", ErrorClass::kProtocol},
      {"json200", ErrorClass::kOverloaded}, {"html200", ErrorClass::kProtocol},  {"empty", ErrorClass::kProtocol},      {"garbage", ErrorClass::kProtocol},
      {"garbagesse", ErrorClass::kProtocol}, {"errorevent", ErrorClass::kOverloaded}, {"errorlate", ErrorClass::kOverloaded}, {"noend", ErrorClass::kProtocol},
      {"cut", ErrorClass::kNetwork},        {"cutcall", ErrorClass::kNetwork},
  };
  for (const std::string& provider : kProviders) {
    for (const auto& [behaviour, kind] : rows) {
      const auto asked = Answer({provider + "/" + behaviour});
      const Failure failure = asked->Error();
      EXPECT_EQ(ErrorClassName(failure.kind), ErrorClassName(kind)) << provider << " " << behaviour << ": " << failure.message;
      EXPECT_THAT(failure.message, HasSubstr(provider + "/" + behaviour + ": "));
      EXPECT_EQ(asked->Of<Failed>().size() + asked->Of<Stopped>().size(), 1u);
    }
  }
  EXPECT_EQ(Answer({"chat/refuse"})->Of<Stopped>()[0].reason, StopReason::kRefused);
  EXPECT_EQ(Answer({"chat/maxtokens"})->Of<Stopped>()[0].reason, StopReason::kMaxTokens);
}

TEST_F(LlmAnswersTest, TheKeyGoesIntoItsHeaderAndNowhereElse) {
  const std::map<std::string, std::pair<std::string, std::string>> headers = {
      {"anthropic", {"x-api-key", kKey}}, {"chat", {"authorization", "Bearer " + kKey}}, {"responses", {"authorization", "Bearer " + kKey}}, {"google", {"x-goog-api-key", kKey}}};
  for (const auto& [provider, header] : headers) {
    upstream_->Reset();
    const auto asked = Answer({provider + "/echokey"});
    const json request = upstream_->Stats()["requests"][0];
    EXPECT_EQ(request["headers"][header.first], header.second);
    EXPECT_THAT(request["path"].get<std::string>(), Not(HasSubstr(kKey)));
    EXPECT_EQ(asked->Error().kind, ErrorClass::kAuth);
    EXPECT_THAT(asked->Error().message, HasSubstr("wrong key: "));
    EXPECT_THAT(asked->Error().message, Not(HasSubstr(kKey))) << "the provider repeated it, we must not";
    EXPECT_THAT(llm_->Models(), Each(::testing::Field(&ModelState::message, Not(HasSubstr(kKey)))));
  }
  llm_.reset();  // writes what it has learnt
  const auto health = ReadFile(dir_ / "health.json");
  ASSERT_TRUE(health);
  EXPECT_THAT(*health, HasSubstr("echokey"));
  EXPECT_THAT(*health, Not(HasSubstr(kKey)));
}

TEST_F(LlmAnswersTest, AServerWithoutAKeyGetsNone) {
  config_.llm.providers["chat"].api_key = Secret();
  EXPECT_EQ(Answer({"chat/instant"})->Text(), "ok");
  EXPECT_FALSE(upstream_->Stats()["requests"][0]["headers"].contains("authorization"));
}

TEST_F(LlmAnswersTest, ARedirectIsNotFollowed) {
  Upstream other;
  EXPECT_EQ(Answer({"anthropic/redirect:" + std::to_string(other.port())})->Error().kind, ErrorClass::kProtocol);
  EXPECT_THAT(other.Stats()["requests"], SizeIs(0));
}

TEST_F(LlmAnswersTest, OneAfterTheOtherUseOneConnection) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Answer({"anthropic/instant"})->Text(), "ok");
    ASSERT_TRUE(StepUntil([] { return upstream_->Stats()["open"] == 0; }));
  }
  EXPECT_LE(upstream_->Stats()["connections"].get<int>(), 2) << "the last bytes of one may still be on their way";
}

TEST_F(LlmAnswersTest, ModelIdsMayHoldSlashesAndColons) {
  EXPECT_EQ(Answer({"google/a/b:c"})->Text(), "ok");
  const json request = upstream_->Stats()["requests"][0];
  EXPECT_EQ(request["model"], "a/b:c");
  EXPECT_EQ(request["path"], "/v1beta/models/a%2Fb%3Ac:streamGenerateContent?alt=sse");
}

TEST_F(LlmAnswersTest, TlsIsVerifiedByTheGivenCertificates) {
  const TestCertificates certificates = MakeCertificates(dir_.path());
  Upstream secure({"--tls", certificates.certificate, certificates.key});
  LlmProviderConfig& provider = config_.llm.providers["secure"];
  provider.api = LlmApi::kAnthropicMessages;
  provider.base_url = BaseUrl(provider.api, secure.port(), "https");
  provider.api_key = Secret(kKey);
  const auto refused = Answer({"secure/instant"});  // by the system's certificates
  EXPECT_EQ(refused->Error().kind, ErrorClass::kNetwork);
  EXPECT_THAT(refused->Error().message, HasSubstr("certificate"));

  config_.llm.ca_file = certificates.ca;
  Configure();
  ASSERT_TRUE(StepUntil([&] { return !llm_->Models().back().cooling.has_value(); }));
  EXPECT_EQ(Answer({"secure/instant"})->Text(), "ok");
  // Not asked again: the certificates are in memory.
  ASSERT_TRUE(RemoveFile(certificates.ca));
  auto asked = std::make_unique<Asked>();
  asked->running = llm_->Ask(kAgent, {{{"secure", "instant"}, ThinkingLevel::kOff}}, Prompt(), [&](const Event& event) {
    asked->events.push_back(event);
    asked->ended = asked->ended || std::holds_alternative<Stopped>(event) || std::holds_alternative<Failed>(event);
  });
  Finish(*asked);
  EXPECT_EQ(asked->Text(), "ok");
}

}  // namespace beige::llm
