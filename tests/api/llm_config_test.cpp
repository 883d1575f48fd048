#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/load.h"
#include "tests/api/problems_of.h"
#include "tests/support/temp_dir.h"

namespace beige {
namespace {
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kCanary = "sk-canary-0123456789";

std::optional<std::string> LlmEnv(const std::string& name) {
  if (name == "KEY") return kCanary;
  if (name == "BROKEN") return kCanary + "\r\nx-evil: 1";
  if (name == "EMPTY") return "";
  return std::nullopt;
}

Loaded<GatewayConfig> LoadLlm(const std::string& llm, const std::string& folder = "/h") {
  return LoadGatewayConfig("apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\nllm:\n" + llm, folder + "/gateway.yaml", LlmEnv);
}
// Of one provider p.
std::vector<std::string> LlmProblems(const std::string& provider) { return Texts(LoadLlm("  providers: {p: " + provider + "}\n").problems); }
}  // namespace

TEST(LlmConfigTest, ReadsEveryField) {
  const TempDir dir;
  dir.Write("key", kCanary + "\n");
  dir.Write("ca.pem", "-----BEGIN CERTIFICATE-----\n");
  const auto loaded = LoadLlm(R"(
  caFile: ca.pem
  providers:
    anthropic:
      api: anthropic-messages
      apiKey: "${KEY}"
      concurrency: 3
      timeouts: {connect: 1s, firstToken: 2s, stall: 3s, total: 4s, queue: 5s}
      models:
        claude-x: {contextWindow: 200000, maxTokens: 64000, input: [text, image], cost: {input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75}}
    local:
      api: openai-completions
      baseUrl: http://127.0.0.1:11434/v1/
      models: {"qwen3:8b": {}, meta/llama: {}}
    file: {api: google-generative-ai, apiKey: {file: key}, models: {g: {}}}
)", dir.path());
  ASSERT_THAT(Texts(loaded.problems), IsEmpty());
  LlmConfig want;
  want.ca_file = dir / "ca.pem";
  LlmProviderConfig& anthropic = want.providers["anthropic"];
  anthropic.base_url = "https://api.anthropic.com";
  anthropic.api_key = Secret(kCanary);
  anthropic.concurrency = 3;
  using std::chrono::seconds;
  anthropic.timeouts = {seconds(1), seconds(2), seconds(3), seconds(4), seconds(5)};
  anthropic.models["claude-x"] = {200000, 64000, true, {3, 15, 0.3, 3.75}};
  LlmProviderConfig& local = want.providers["local"];
  local.api = LlmApi::kOpenAiCompletions;
  local.base_url = "http://127.0.0.1:11434/v1";
  local.models = {{"qwen3:8b", {}}, {"meta/llama", {}}};
  LlmProviderConfig& file = want.providers["file"];
  file.api = LlmApi::kGoogleGenerativeAi;
  file.base_url = "https://generativelanguage.googleapis.com/v1beta";
  file.api_key = Secret(kCanary);
  file.models = {{"g", {}}};
  want.files = {dir / "key", dir / "ca.pem"};
  EXPECT_EQ(loaded.value->llm, want);
}

TEST(LlmConfigTest, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(LlmProblems("{api: anthropic, models: {m: {}}}"), ElementsAre(AllOf(HasSubstr("gateway.yaml:4:"), HasSubstr("llm.providers.p.api: want one of "), HasSubstr("did you mean anthropic-messages?"))));
  EXPECT_THAT(LlmProblems("{models: {m: {}}}"), Contains(HasSubstr("api")));
  EXPECT_THAT(LlmProblems("{api: openai-responses}"), Contains(HasSubstr("models")));
  EXPECT_THAT(LlmProblems("{api: openai-responses, models: {}}"), ElementsAre(HasSubstr("want at least one model")));
  EXPECT_THAT(LlmProblems("{api: openai-responses, models: {m: {contextWindw: 5}}}"), ElementsAre(AllOf(HasSubstr("models.m.contextWindw"), HasSubstr("did you mean contextWindow?"))));
  EXPECT_THAT(LlmProblems("{api: openai-responses, models: {m: {cost: {input: cheap}}}}"), ElementsAre(AllOf(HasSubstr("models.m.cost.input"), HasSubstr("US dollars"), HasSubstr("\"cheap\""))));
  for (const char* price : {"-1", "1e9", ".inf", ".nan", "[1]", "\"3\"", "2000000"}) {
    EXPECT_THAT(LlmProblems(std::string("{api: openai-responses, models: {m: {cost: {input: ") + price + "}}}}"), ElementsAre(HasSubstr("cost.input"))) << price;
  }
  EXPECT_THAT(LlmProblems("{api: openai-responses, concurrency: 0, models: {m: {}}}"), ElementsAre(HasSubstr("want an integer from 1 to 1024")));
  EXPECT_THAT(LlmProblems("{api: openai-responses, timeouts: {stall: fast}, models: {m: {}}}"), ElementsAre(AllOf(HasSubstr("timeouts.stall"), HasSubstr("want a duration"))));
  EXPECT_THAT(Texts(LoadLlm("  caFile: /nowhere/ca.pem\n").problems), ElementsAre(HasSubstr("llm.caFile")));
  EXPECT_THAT(Texts(LoadLlm("  providers: {\"a/b\": {api: openai-responses, models: {m: {}}}}\n").problems), ElementsAre(HasSubstr("want a name of 1 to 63 characters")));
}

TEST(LlmConfigTest, BaseUrlsAreHttpAndNothingElse) {
  for (const char* url : {"ftp://x/v1", "localhost:11434", "http://", "https://x/v1?a=b", "https://x/#f", "\"https://x/ y\"", "\"https://x\\r\\nHost: y\"", "file:///etc/passwd"}) {
    EXPECT_THAT(LlmProblems(std::string("{api: openai-responses, models: {m: {}}, baseUrl: ") + url + "}"), ElementsAre(HasSubstr("llm.providers.p.baseUrl"))) << url;
  }
}

TEST(LlmConfigTest, AKeyDoesNotTravelInTheClear) {
  const std::string rest = ", apiKey: \"${KEY}\", api: openai-completions, models: {m: {}}}";
  for (const char* url : {"http://127.0.0.1:1/v1", "http://localhost/v1", "http://[::1]:1/v1", "https://example.org/v1"}) {
    EXPECT_THAT(LlmProblems(std::string("{baseUrl: \"") + url + "\"" + rest), IsEmpty()) << url;
  }
  for (const char* url : {"http://example.org/v1", "http://127.0.0.1.example.org/v1", "http://10.0.0.1/v1", "http://localhost.example.org"}) {
    EXPECT_THAT(LlmProblems(std::string("{baseUrl: \"") + url + "\"" + rest), ElementsAre(HasSubstr("want https"))) << url;
  }
  EXPECT_THAT(LlmProblems("{allowPlainHttp: true, baseUrl: \"http://10.0.0.1/v1\"" + rest), IsEmpty());
  EXPECT_THAT(LlmProblems("{baseUrl: \"http://10.0.0.1/v1\", api: openai-completions, models: {m: {}}}"), IsEmpty()) << "no key, nothing to read";
}

TEST(LlmConfigTest, AKeyIsNeverShown) {
  for (const std::string& key : {"\"" + kCanary + "\"", "[" + kCanary + "]", "{value: " + kCanary + "}", "{file: /nowhere, also: " + kCanary + "}", std::string("\"${BROKEN}\""), std::string("\"${EMPTY}\""),
                                 std::string("\"${NOPE}\""), std::string("7"), "!!binary " + kCanary}) {
    const auto problems = LlmProblems("{api: openai-completions, models: {m: {}}, apiKey: " + key + "}");
    EXPECT_THAT(problems, Not(IsEmpty())) << key;
    EXPECT_THAT(problems, Each(AllOf(HasSubstr("llm.providers.p.apiKey"), Not(HasSubstr("canary"))))) << key;
  }
  EXPECT_THAT(LlmProblems("{api: openai-completions, models: {m: {}}, baseUrl: \"https://u:" + kCanary + "@x/v1\"}"), ElementsAre(Not(HasSubstr("canary"))));
}

}  // namespace beige
