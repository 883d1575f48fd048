#ifndef BEIGE_OPERATOR_APP_METRICS_H_
#define BEIGE_OPERATOR_APP_METRICS_H_

#include <memory>
#include <string>
#include <string_view>

#include "api/agent.h"

namespace beige {

// All series of the operator, as surface.md names them. Thread-safe. Labels are bounded: what an agent had goes when it goes.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void Reconciled(std::string_view result, double seconds);  // success | error | requeue
  void SandboxStarted(const AgentKey& key, const std::string& reason, double seconds);
  void EngineRequest(std::string_view engine, std::string_view operation, std::string_view code, double seconds);
  void AgentStatusChanged(const Agent& agent);
  void AgentGone(const AgentKey& key);

  // The text format, with what is only known now.
  std::string Expose(size_t queue_depth, uint64_t queue_retries);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace beige

#endif
