#ifndef BEIGE_GATEWAY_LLM_LLM_H_
#define BEIGE_GATEWAY_LLM_LLM_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/agent_ref.h"
#include "api/config.h"
#include "base/clock.h"
#include "base/loop.h"
#include "gateway/llm/chain.h"
#include "gateway/llm/cooldowns.h"
#include "gateway/llm/event.h"
#include "gateway/llm/places.h"
#include "http/client/trust.h"

namespace beige {
class GatewayMetrics;
}

namespace beige::http::client {
class CurlLoop;
}

namespace beige::llm {

// How a model stands, for people.
struct ModelState {
  ModelName name;
  LlmApi api = LlmApi::kOpenAiCompletions;
  LlmModelConfig config;
  std::optional<std::chrono::milliseconds> cooling;  // how much longer
  ErrorClass why = ErrorClass::kOverloaded;          // of the cooldown
  std::string message;
  size_t running = 0;  // of the provider: requests on their way, and those that wait for a place
  size_t waiting = 0;
};

// All model providers: asks the first of an agent's models that can answer, and others in its place for as long as nothing was seen of
// an answer. Core thread only; the transport has a thread of its own. Keeps what it learns of models' health in `health_file`.
class Llm {
 public:
  Llm(Loop& loop, const Clock& clock, GatewayMetrics& metrics, std::string health_file);
  ~Llm();  // every request must be gone
  Llm(const Llm&) = delete;
  Llm& operator=(const Llm&) = delete;

  // Requests on their way go on with what they began with. The error says why https can't be verified; the rest is in force.
  Result<> SetConfig(std::shared_ptr<const GatewayConfig> config);

  class Running;
  // One request. `sink` gets exactly one answer as event.h describes it, never from within Ask; it may destroy the request. Destroying it
  // earlier cancels: its place is free at once, and its connection is closed.
  std::unique_ptr<Running> Ask(AgentKey agent, std::vector<Choice> choices, Request request, Sink sink);

  std::vector<ModelState> Models() const;

 private:
  friend class Running;
  struct Provider {
    Places places{0};
    std::map<Places::Ticket, Running*> waiting;
  };
  Places::Ticket Enter(const std::string& provider, Running* running, const std::string& agent, std::chrono::milliseconds queue);
  void Leave(const std::string& provider, Places::Ticket ticket);
  void Admit(Provider& provider, const std::vector<Places::Ticket>& tickets);
  void WatchQueues();
  void Failed(const ModelName& model, const Failure& failure);
  void Succeeded(const ModelName& model);
  void HealthChanged();
  void ShowCooldowns();
  void SaveHealth();

  Loop& loop_;
  const Clock& clock_;
  GatewayMetrics& metrics_;
  const std::string health_file_;
  std::shared_ptr<const GatewayConfig> config_;
  std::shared_ptr<const http::client::Trust> trust_;
  std::shared_ptr<http::client::CurlLoop> curl_;  // a new one with each trust; requests keep theirs
  Cooldowns cooldowns_;
  std::map<std::string, Provider> providers_;
  Timer queue_timer_;
  Timer cooldown_timer_;
  Timer save_timer_;
  bool unsaved_ = false;
};

}  // namespace beige::llm

#endif
