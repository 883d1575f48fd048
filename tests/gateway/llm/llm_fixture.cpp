#include "tests/gateway/llm/llm_fixture.h"

namespace beige::llm {

Upstream* LlmTest::upstream_ = nullptr;

std::vector<std::string> Asked::Described() const {
  std::vector<std::string> out;
  for (const Event& event : events) out.push_back(Describe(event));
  return out;
}

std::string Asked::Text() const {
  std::string out;
  for (const TextDelta& delta : Of<TextDelta>()) out += delta.text;
  return out;
}

Failure Asked::Error() const {
  const auto failed = Of<Failed>();
  return failed.empty() ? Failure{ErrorClass::kBusy, "no failure"} : failed[0].failure;
}

void LlmTest::SetUp() {
  upstream_->Reset();
  const std::pair<const char*, LlmApi> providers[] = {{"anthropic", LlmApi::kAnthropicMessages},
                                                      {"chat", LlmApi::kOpenAiCompletions},
                                                      {"responses", LlmApi::kOpenAiResponses},
                                                      {"google", LlmApi::kGoogleGenerativeAi}};
  for (const auto& [name, api] : providers) {
    LlmProviderConfig& provider = config_.llm.providers[name];
    provider.api = api;
    provider.base_url = BaseUrl(api, upstream_->port());
    provider.api_key = Secret(kKey);
  }
  llm_ = std::make_unique<Llm>(loop_, clock_, metrics_, dir_ / "health.json");
}

void LlmTest::TearDown() {
  llm_.reset();
  StepUntil([] { return upstream_->Stats()["open"] == 0; });
}

std::string LlmTest::BaseUrl(LlmApi api, int port, const std::string& scheme) const {
  const std::string path = api == LlmApi::kAnthropicMessages ? "" : api == LlmApi::kGoogleGenerativeAi ? "/v1beta" : "/v1";
  return scheme + "://127.0.0.1:" + std::to_string(port) + path;
}

void LlmTest::Configure() {
  const auto done = llm_->SetConfig(std::make_shared<const GatewayConfig>(config_));
  ASSERT_TRUE(done) << done.error().message;
}

std::unique_ptr<Asked> LlmTest::Ask(const std::vector<std::string>& models, const std::string& agent, Request request) {
  std::vector<Choice> choices;
  for (const std::string& model : models) {
    choices.push_back({*ParseModelName(model), ThinkingLevel::kOff});
    config_.llm.providers[choices.back().model.provider].models.try_emplace(choices.back().model.model);
  }
  Configure();
  auto asked = std::make_unique<Asked>();
  asked->running = llm_->Ask({"default", agent}, std::move(choices), std::move(request), [to = asked.get()](const Event& event) {
    to->events.push_back(event);
    if (std::holds_alternative<Stopped>(event) || std::holds_alternative<Failed>(event)) to->ended = true;
    if (std::holds_alternative<TextDelta>(event) && to->at_text) std::exchange(to->at_text, nullptr)();
  });
  return asked;
}

void LlmTest::Finish(Asked& asked) {
  EXPECT_TRUE(StepUntil([&] { return asked.ended; })) << "no end came";
}

std::unique_ptr<Asked> LlmTest::Answer(const std::vector<std::string>& models) {
  auto asked = Ask(models);
  Finish(*asked);
  return asked;
}

bool LlmTest::StepUntil(const std::function<bool()>& done, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    loop_.RunOnce(std::chrono::milliseconds(10));
  }
  return true;
}

double LlmTest::Metric(const std::string& series) const {
  const std::string text = metrics_.Render();
  const size_t at = text.find("\n" + series + " ");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size() + 2));
}

}  // namespace beige::llm
