#include "gateway/llm/running.h"

#include <utility>

#include "base/log.h"
#include "gateway/llm/cost.h"
#include "gateway/metrics/metrics.h"

namespace beige::llm {

Llm::Running::Running(Llm& llm, AgentKey agent, std::vector<Choice> choices, Request request, Sink sink)
    : llm_(llm), agent_(std::move(agent)), request_(std::move(request)), sink_(std::make_shared<const Sink>(std::move(sink))), config_(llm.config_), trust_(llm.trust_), curl_(llm.curl_),
      chain_(std::move(choices), config_->llm), self_(std::make_shared<Running*>(this)) {
  Later(&Running::Next);
}

Llm::Running::~Running() {
  *self_ = nullptr;
  if (attempt_ && !counted_) {
    // What a stream has told of its use so far is spent, read to the end or not.
    if (!told_ && attempt_->usage() != Usage{}) OnUsage(attempt_->usage());
    EndAttempt("cancelled");
  } else if (ticket_ != 0) {
    llm_.Leave(choice_->model.provider, std::exchange(ticket_, 0));
  }
}

void Llm::Running::Pause() {
  paused_ = true;
  if (attempt_) attempt_->Pause();
}

void Llm::Running::Resume() {
  paused_ = false;
  if (attempt_) attempt_->Resume();
}

void Llm::Running::Later(void (Running::*what)()) {
  llm_.loop_.Post([self = self_, what] {
    if (*self != nullptr) ((*self)->*what)();
  });
}

void Llm::Running::Next() {
  attempt_.reset();
  held_.clear();
  lost_ += std::exchange(kept_, {});
  told_ = false;
  choice_ = chain_.Next(llm_.cooldowns_, llm_.clock_.Now());
  if (!choice_) return Forward(llm::Failed{chain_.Verdict(llm_.cooldowns_, llm_.clock_.Now())});
  const LlmProviderConfig& provider = config_->llm.providers.at(choice_->model.provider);
  ticket_ = llm_.Enter(choice_->model.provider, this, agent_.ToString(), provider.timeouts.queue);
}

void Llm::Running::Expired() {
  ticket_ = 0;
  const LlmProviderConfig& provider = config_->llm.providers.at(choice_->model.provider);
  Failure failure{ErrorClass::kBusy, "all " + std::to_string(provider.concurrency) + " places of provider " + choice_->model.provider +
                                         " stayed taken for timeouts.queue, " + FormatDuration(provider.timeouts.queue)};
  counted_ = false;
  OnFailed(failure);
}

void Llm::Running::Admitted() {
  const ModelName& name = choice_->model;
  if (llm_.cooldowns_.Until(name, llm_.clock_.Now())) {  // it began to while this waited
    chain_.PassOver(name);
    llm_.Leave(name.provider, std::exchange(ticket_, 0));
    return Next();
  }
  const LlmProviderConfig& provider = config_->llm.providers.at(name.provider);
  const LlmModelConfig& model = provider.models.at(name.model);
  request_.model = name.model;
  request_.thinking = choice_->thinking;
  if (model.max_tokens > 0 && (request_.max_tokens <= 0 || request_.max_tokens > model.max_tokens)) request_.max_tokens = model.max_tokens;
  AttemptSpec spec;
  spec.api = provider.api;
  spec.base_url = provider.base_url;
  spec.key = provider.api_key;
  spec.timeouts = provider.timeouts;
  spec.trust = trust_;
  const EncodeOptions options{.openai_itself = provider.base_url.starts_with("https://api.openai.com/")};
  spec.request = model.images || !HasImages(request_) ? Encode(provider.api, request_, options) : Encode(provider.api, WithoutImages(request_), options);
  content_ = false;
  counted_ = false;
  asked_ = llm_.clock_.Now();
  attempt_ = std::make_unique<Attempt>(llm_.loop_, *curl_, std::move(spec), [this](const Event& event) { OnEvent(event); });
  if (paused_) attempt_->Pause();
}

void Llm::Running::OnEvent(const Event& event) {
  const auto self = self_;
  if (const auto* failed = std::get_if<llm::Failed>(&event)) return OnFailed(failed->failure);
  if (const auto* usage = std::get_if<Usage>(&event)) return OnUsage(*usage);
  if (const auto* started = std::get_if<Started>(&event)) {
    Started named = *started;
    named.asked = choice_->model;
    held_.push_back(std::move(named));
    return;
  }
  const bool stopped = std::holds_alternative<Stopped>(event);
  if (!content_ && IsContent(event)) {
    content_ = true;
    llm_.metrics_.ObserveLlmFirstToken(choice_->model.provider, choice_->model.model, std::chrono::duration<double>(llm_.clock_.Now() - asked_).count());
  }
  if (!content_ && !stopped) {
    held_.push_back(event);
    return;
  }
  Flush();
  if (*self == nullptr) return;
  if (!stopped) return Forward(event);
  llm_.Succeeded(choice_->model);
  EndAttempt("ok");
  Forward(event);
}

Usage Llm::Running::Priced(Usage usage) const {
  const ModelName& name = choice_->model;
  usage.cost_usd = CostOf(config_->llm.providers.at(name.provider).models.at(name.model).cost, usage);
  return usage;
}

Usage Llm::Running::unreported() const {
  Usage out = lost_;
  out += kept_;
  if (attempt_ && !told_) out += Priced(attempt_->usage());
  return out;
}

void Llm::Running::OnUsage(Usage told) {
  const Usage usage = Priced(told);
  told_ = true;
  kept_ = usage;
  const ModelName& name = choice_->model;
  const std::pair<const char*, int64_t> kinds[] = {{"input", usage.input}, {"output", usage.output}, {"cache_read", usage.cache_read}, {"cache_write", usage.cache_write}};
  for (const auto& [kind, count] : kinds) llm_.metrics_.AddLlmTokens(agent_, name.provider, name.model, kind, count);
  llm_.metrics_.AddLlmCost(agent_, name.provider, name.model, usage.cost_usd);
  held_.push_back(usage);  // goes out before the end, or is dropped with the attempt
}

void Llm::Running::OnFailed(const Failure& reason) {
  llm_.Failed(choice_->model, reason);
  Failure failure = reason;
  failure.provider = choice_->model.provider;
  failure.model = choice_->model.model;
  failure.message = choice_->model.ToString() + ": " + failure.message;
  EndAttempt(ErrorClassName(failure.kind));
  LogWarn("model failed", {{"agent", agent_.ToString()}, {"model", choice_->model.ToString()}, {"class", ErrorClassName(failure.kind)}, {"error", failure.message}});
  if (chain_.MayGoOn(failure, content_)) return Later(&Running::Next);  // not here: the attempt is still on the stack
  const auto self = self_;
  if (content_) Flush();  // its usage
  if (*self != nullptr) Forward(llm::Failed{content_ ? failure : chain_.Verdict(llm_.cooldowns_, llm_.clock_.Now())});
}

void Llm::Running::EndAttempt(std::string_view outcome) {
  if (!std::exchange(counted_, true)) llm_.metrics_.CountLlmRequest(agent_, choice_->model.provider, choice_->model.model, outcome);
  if (ticket_ != 0) llm_.Leave(choice_->model.provider, std::exchange(ticket_, 0));
}

void Llm::Running::Forward(const Event& event) {
  if (std::holds_alternative<Usage>(event)) kept_ = {};
  const auto sink = sink_;  // it may destroy this, and itself with it
  (*sink)(event);
}

void Llm::Running::Flush() {
  const auto self = self_;
  for (const Event& event : std::exchange(held_, {})) {
    Forward(event);
    if (*self == nullptr) return;
  }
}


}  // namespace beige::llm
