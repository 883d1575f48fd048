#ifndef BEIGE_GATEWAY_METRICS_METRICS_H_
#define BEIGE_GATEWAY_METRICS_METRICS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/agent_ref.h"

namespace beige {

// The gateway's Prometheus series. Thread-safe; the counters of a call cost well under a microsecond (references are cached).
class GatewayMetrics {
 public:
  GatewayMetrics();
  ~GatewayMetrics();

  // beige_tool_calls_total{namespace,agent,tool,surface,decision,outcome}. `tool` must be a configured name or "unknown" (bounded labels).
  void CountToolCall(const AgentKey& agent, std::string_view tool, std::string_view surface, std::string_view decision, std::string_view outcome);
  void ObserveToolDuration(std::string_view tool, double seconds);          // beige_tool_call_duration_seconds{tool}
  void CountTurn(const AgentKey& agent, std::string_view outcome);          // beige_turns_total; done, error, aborted
  void CountExec(const AgentKey& agent, std::string_view outcome);          // beige_exec_total
  void AddLinkConnections(const AgentKey& agent, int delta);                // beige_link_connections
  void CountAuditRecord();                                                  // beige_audit_records_total
  void CountAuditWriteFailure();                                            // beige_audit_write_failures_total
  void SetAgents(size_t count);                                             // beige_agents

  // Of model providers. `provider` and `model` must be configured names; `outcome` is ok, cancelled or the class of the error.
  void CountLlmRequest(const AgentKey& agent, std::string_view provider, std::string_view model, std::string_view outcome);  // beige_llm_requests_total
  void AddLlmTokens(const AgentKey& agent, std::string_view provider, std::string_view model, std::string_view kind, int64_t count);  // beige_llm_tokens_total
  void AddLlmCost(const AgentKey& agent, std::string_view provider, std::string_view model, double usd);  // beige_llm_cost_usd_total
  void ObserveLlmFirstToken(std::string_view provider, std::string_view model, double seconds);  // beige_llm_time_to_first_token_seconds
  void SetLlmCooldown(std::string_view provider, std::string_view model, bool cooling);          // beige_llm_cooldown, 1 or 0
  void RemoveLlmModel(std::string_view provider, std::string_view model);  // it is no longer configured: its series go away

  void RemoveAgent(const AgentKey& agent);                                  // its series go away

  std::string Render() const;  // text/plain; version=0.0.4

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace beige

#endif
