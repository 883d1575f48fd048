#include "gateway/llm/llm.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "gateway/llm/health_file.h"
#include "gateway/llm/running.h"
#include "gateway/metrics/metrics.h"
#include "http/client/curl_loop.h"

namespace beige::llm {
namespace {
// Failures come in bursts; the disk is asked once for each of them.
constexpr std::chrono::milliseconds kSaveAfter{100};

bool SamePeer(const LlmProviderConfig& a, const LlmProviderConfig& b) { return a.api == b.api && a.base_url == b.base_url && a.api_key == b.api_key; }

bool UsesTls(const LlmConfig& config) {
  return std::any_of(config.providers.begin(), config.providers.end(), [](const auto& item) { return item.second.base_url.starts_with("https://"); });
}
}  // namespace

Llm::Llm(Loop& loop, const Clock& clock, GatewayMetrics& metrics, std::string health_file)
    : loop_(loop), clock_(clock), metrics_(metrics), health_file_(std::move(health_file)), config_(std::make_shared<const GatewayConfig>()),
      curl_(std::make_shared<http::client::CurlLoop>()), queue_timer_(loop), cooldown_timer_(loop), save_timer_(loop) {
  auto text = ReadFileIfExists(health_file_, 4u << 20);
  if (text && *text) cooldowns_ = DecodeHealth(**text, clock_);
}

Llm::~Llm() {
  if (unsaved_) SaveHealth();
}

Result<> Llm::SetConfig(std::shared_ptr<const GatewayConfig> config) {
  const LlmConfig& now = config->llm;
  bool forgot = false;
  for (const auto& [name, before] : config_->llm.providers) {
    const auto after = now.providers.find(name);
    if (after != now.providers.end() && SamePeer(before, after->second)) continue;
    cooldowns_.Forget(name);  // another key or place deserves a new try
    forgot = true;
  }
  for (const auto& [name, before] : config_->llm.providers) {
    for (const auto& [model, unused] : before.models) {
      const auto after = now.providers.find(name);
      if (after == now.providers.end() || !after->second.models.contains(model)) metrics_.RemoveLlmModel(name, model);
    }
  }
  config_ = std::move(config);
  for (const auto& [name, provider] : config_->llm.providers) {
    Provider& known = providers_[name];
    Admit(known, known.places.SetLimit(provider.concurrency));
  }
  ShowCooldowns();
  if (forgot) HealthChanged();
  if (!UsesTls(config_->llm)) return {};
  auto trust = http::client::Trust::Load(config_->llm.ca_file);
  if (!trust) return FailIn("certificates for model providers", trust.error());
  if (trust_ == nullptr || (*trust)->fingerprint() != trust_->fingerprint()) {
    trust_ = std::move(*trust);
    curl_ = std::make_shared<http::client::CurlLoop>();  // its kept connections were verified by the former
  }
  return {};
}

std::unique_ptr<Llm::Running> Llm::Ask(AgentKey agent, std::vector<Choice> choices, Request request, Sink sink) {
  return std::make_unique<Running>(*this, std::move(agent), std::move(choices), std::move(request), std::move(sink));
}

std::vector<ModelState> Llm::Models() const {
  std::vector<ModelState> out;
  for (const auto& [name, provider] : config_->llm.providers) {
    const auto known = providers_.find(name);
    for (const auto& [id, model] : provider.models) {
      ModelState& state = out.emplace_back();
      state.name = {name, id};
      state.api = provider.api;
      state.config = model;
      if (known != providers_.end()) state.running = known->second.places.taken();
      if (known != providers_.end()) state.waiting = known->second.places.waiting();
      const auto until = cooldowns_.Until(state.name, clock_.Now());
      if (!until) continue;
      const Cooldowns::Entry* entry = cooldowns_.Find(state.name);
      state.cooling = std::chrono::ceil<std::chrono::milliseconds>(*until - clock_.Now());
      state.why = entry->why;
      state.message = entry->message;
    }
  }
  return out;
}

Places::Ticket Llm::Enter(const std::string& name, Running* running, const std::string& agent, std::chrono::milliseconds queue) {
  Provider& provider = providers_[name];
  const Places::Ticket ticket = provider.places.Enter(agent, clock_.Now() + queue);
  provider.waiting[ticket] = running;
  if (provider.places.Has(ticket)) {
    Admit(provider, {ticket});
  } else {
    WatchQueues();
  }
  return ticket;
}

void Llm::Leave(const std::string& name, Places::Ticket ticket) {
  Provider& provider = providers_[name];
  provider.waiting.erase(ticket);
  Admit(provider, provider.places.Leave(ticket));
}

// On the next turn of the loop: nobody is called from within another's words.
void Llm::Admit(Provider& provider, const std::vector<Places::Ticket>& tickets) {
  for (const Places::Ticket ticket : tickets) {
    const auto found = provider.waiting.find(ticket);
    if (found == provider.waiting.end()) continue;
    Running* running = found->second;
    provider.waiting.erase(found);
    running->Later(&Running::Admitted);
  }
}

void Llm::WatchQueues() {
  std::optional<SteadyTime> next;
  for (const auto& [name, provider] : providers_) {
    const auto deadline = provider.places.NextDeadline();
    if (deadline && (!next || *deadline < *next)) next = deadline;
  }
  if (!next) return queue_timer_.Cancel();
  queue_timer_.Start(std::max<SteadyTime::duration>(*next - clock_.Now(), {}), [this] {
    for (auto& [name, provider] : providers_) {
      for (const Places::Ticket ticket : provider.places.Expire(clock_.Now())) {
        const auto found = provider.waiting.find(ticket);
        if (found == provider.waiting.end()) continue;
        Running* running = found->second;
        provider.waiting.erase(found);
        running->Later(&Running::Expired);
      }
    }
    WatchQueues();
  });
}

void Llm::Failed(const ModelName& model, const Failure& failure) {
  const auto before = cooldowns_.Until(model, clock_.Now());
  cooldowns_.Failed(model, failure, clock_.Now());
  if (cooldowns_.Until(model, clock_.Now()) != before) HealthChanged();
}

void Llm::Succeeded(const ModelName& model) { cooldowns_.Succeeded(model); }

void Llm::HealthChanged() {
  ShowCooldowns();
  if (!std::exchange(unsaved_, true)) save_timer_.Start(kSaveAfter, [this] { SaveHealth(); });
}

void Llm::ShowCooldowns() {
  std::optional<SteadyTime> next;
  for (const auto& [name, provider] : config_->llm.providers) {
    for (const auto& [id, model] : provider.models) {
      const auto until = cooldowns_.Until({name, id}, clock_.Now());
      metrics_.SetLlmCooldown(name, id, until.has_value());
      if (until && (!next || *until < *next)) next = until;
    }
  }
  if (!next) return cooldown_timer_.Cancel();
  cooldown_timer_.Start(*next - clock_.Now() + std::chrono::milliseconds(1), [this] { ShowCooldowns(); });
}

void Llm::SaveHealth() {
  unsaved_ = false;
  if (auto done = WriteFileAtomic(health_file_, EncodeHealth(cooldowns_, clock_), 0600); !done) {
    LogError("health of models not kept for a later start", {{"error", done.error().message}});
  }
}

}  // namespace beige::llm
