#include "gateway/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/guarded.h"
#include "gateway/metrics/process_stats.h"

namespace beige {
namespace {
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

// From a call that is denied without a process to a tool that takes minutes.
const Histogram::BucketBoundaries kDurationBuckets = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                      0.05,   0.1,     0.25,   0.5,   1,      2.5,   10,   60};

// The series of one agent; removed together.
struct AgentSeries {
  std::unordered_map<std::string, Counter*> calls;  // tool, surface, decision, outcome joined by newlines -> counter
  std::unordered_map<std::string, Counter*> execs;  // outcome
  std::unordered_map<std::string, Counter*> turns;  // outcome
  // provider, model and outcome or kind, joined by newlines
  std::unordered_map<std::string, Counter*> llm_requests, llm_tokens, llm_cost;
  Gauge* connections = nullptr;
};

struct Cache {
  std::unordered_map<std::string, AgentSeries> agents;  // namespace/name
  std::unordered_map<std::string, Histogram*> durations;
  std::unordered_map<std::string, Histogram*> first_tokens;  // provider and model, joined by newlines
  std::unordered_map<std::string, Gauge*> cooldowns;
};

// Up to the first word of a model that thinks.
const Histogram::BucketBoundaries kFirstTokenBuckets = {0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120};

void AppendPart(std::string& key, std::string_view part) { key.append(part) += '\n'; }
}  // namespace

// Looking a series up in a family hashes a map of labels (167 ns and allocations), so the references are kept here. One mutex over
// increments and removals: a series can't go away under the hand that counts on it.
struct GatewayMetrics::Impl {
  prometheus::Registry registry;
  Family<Counter>& tool_calls = Make<Counter>("beige_tool_calls_total", "Calls by way in, decision and outcome.");
  Family<Histogram>& durations = Make<Histogram>("beige_tool_call_duration_seconds", "From decision to end of an allowed call.");
  Family<Counter>& turns = Make<Counter>("beige_turns_total", "Turns of conversations by how they ended.");
  Family<Counter>& execs = Make<Counter>("beige_exec_total", "Commands run in sandboxes for their owners.");
  Family<Gauge>& connections = Make<Gauge>("beige_link_connections", "Open connections on an agent's gateway.sock.");
  Family<Counter>& llm_requests = Make<Counter>("beige_llm_requests_total", "Requests to model providers by outcome.");
  Family<Counter>& llm_tokens = Make<Counter>("beige_llm_tokens_total", "Tokens by kind: input, output, cache_read, cache_write.");
  Family<Counter>& llm_cost = Make<Counter>("beige_llm_cost_usd_total", "Cost by the price table of gateway.yaml, US dollars.");
  Family<Histogram>& first_tokens = Make<Histogram>("beige_llm_time_to_first_token_seconds", "From the request to the first content.");
  Family<Gauge>& cooldowns = Make<Gauge>("beige_llm_cooldown", "1 while a model is not asked because it failed.");
  Gauge& agents = Make<Gauge>("beige_agents", "Agents with a grant.").Add({});
  Counter& audit_records = Make<Counter>("beige_audit_records_total", "Records written to the audit log.").Add({});
  Counter& audit_failures = Make<Counter>("beige_audit_write_failures_total", "Records that could not be written; their calls did not run.").Add({});
  Gauge& build_info = Make<Gauge>("beige_build_info", "Always 1.").Add({{"version", BEIGE_VERSION}, {"component", "gateway"}}, 1.0);
  Gauge& start_time = Make<Gauge>("process_start_time_seconds", "Start of the process, seconds since the epoch.").Add({});
  Gauge& resident = Make<Gauge>("process_resident_memory_bytes", "Resident memory.").Add({});
  Gauge& virtual_memory = Make<Gauge>("process_virtual_memory_bytes", "Virtual memory.").Add({});
  Gauge& open_fds = Make<Gauge>("process_open_fds", "Open descriptors.").Add({});
  Gauge& max_fds = Make<Gauge>("process_max_fds", "Limit of open descriptors.").Add({});
  Counter& cpu = Make<Counter>("process_cpu_seconds_total", "User and system time.").Add({});
  Guarded<Cache> cache;

  template <typename T>
  Family<T>& Make(const char* name, const char* help) {
    return prometheus::detail::Builder<T>().Name(name).Help(help).Register(registry);
  }

  AgentSeries& SeriesOf(Cache& c, const AgentKey& agent) {
    std::string key;
    key.reserve(agent.namespace_.size() + agent.name.size() + 1);
    key.append(agent.namespace_).append("/").append(agent.name);
    return c.agents[std::move(key)];
  }
};

GatewayMetrics::GatewayMetrics() : impl_(std::make_unique<Impl>()) {}
GatewayMetrics::~GatewayMetrics() = default;

void GatewayMetrics::CountToolCall(const AgentKey& agent, std::string_view tool, std::string_view surface, std::string_view decision,
                                   std::string_view outcome) {
  std::string key;
  key.reserve(tool.size() + surface.size() + decision.size() + outcome.size() + 4);
  for (const std::string_view part : {tool, surface, decision, outcome}) AppendPart(key, part);
  impl_->cache.With([&](Cache& c) {
    Counter*& counter = impl_->SeriesOf(c, agent).calls[std::move(key)];
    if (counter == nullptr) {
      counter = &impl_->tool_calls.Add({{"namespace", agent.namespace_},
                                        {"agent", agent.name},
                                        {"tool", std::string(tool)},
                                        {"surface", std::string(surface)},
                                        {"decision", std::string(decision)},
                                        {"outcome", std::string(outcome)}});
    }
    counter->Increment();
  });
}

void GatewayMetrics::ObserveToolDuration(std::string_view tool, double seconds) {
  impl_->cache.With([&](Cache& c) {
    Histogram*& histogram = c.durations[std::string(tool)];
    if (histogram == nullptr) histogram = &impl_->durations.Add({{"tool", std::string(tool)}}, kDurationBuckets);
    histogram->Observe(seconds);
  });
}

void GatewayMetrics::CountTurn(const AgentKey& agent, std::string_view outcome) {
  impl_->cache.With([&](Cache& c) {
    Counter*& counter = impl_->SeriesOf(c, agent).turns[std::string(outcome)];
    if (counter == nullptr) {
      counter = &impl_->turns.Add({{"namespace", agent.namespace_}, {"agent", agent.name}, {"outcome", std::string(outcome)}});
    }
    counter->Increment();
  });
}

void GatewayMetrics::CountExec(const AgentKey& agent, std::string_view outcome) {
  impl_->cache.With([&](Cache& c) {
    Counter*& counter = impl_->SeriesOf(c, agent).execs[std::string(outcome)];
    if (counter == nullptr) {
      counter = &impl_->execs.Add({{"namespace", agent.namespace_}, {"agent", agent.name}, {"outcome", std::string(outcome)}});
    }
    counter->Increment();
  });
}

void GatewayMetrics::AddLinkConnections(const AgentKey& agent, int delta) {
  impl_->cache.With([&](Cache& c) {
    Gauge*& gauge = impl_->SeriesOf(c, agent).connections;
    if (gauge == nullptr) gauge = &impl_->connections.Add({{"namespace", agent.namespace_}, {"agent", agent.name}});
    gauge->Increment(delta);
  });
}

namespace {
std::string Key(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const std::string_view part : parts) AppendPart(key, part);
  return key;
}

Counter& CounterOf(std::unordered_map<std::string, Counter*>& known, Family<Counter>& family, const AgentKey& agent, std::string_view provider,
                   std::string_view model, const char* label, std::string_view value) {
  Counter*& counter = known[Key({provider, model, value})];
  if (counter == nullptr) {
    prometheus::Labels labels = {{"namespace", agent.namespace_}, {"agent", agent.name}, {"provider", std::string(provider)}, {"model", std::string(model)}};
    if (label != nullptr) labels[label] = value;
    counter = &family.Add(labels);
  }
  return *counter;
}
}  // namespace

void GatewayMetrics::CountLlmRequest(const AgentKey& agent, std::string_view provider, std::string_view model, std::string_view outcome) {
  impl_->cache.With([&](Cache& c) { CounterOf(impl_->SeriesOf(c, agent).llm_requests, impl_->llm_requests, agent, provider, model, "outcome", outcome).Increment(); });
}

void GatewayMetrics::AddLlmTokens(const AgentKey& agent, std::string_view provider, std::string_view model, std::string_view kind, int64_t count) {
  if (count <= 0) return;
  impl_->cache.With([&](Cache& c) {
    CounterOf(impl_->SeriesOf(c, agent).llm_tokens, impl_->llm_tokens, agent, provider, model, "kind", kind).Increment(static_cast<double>(count));
  });
}

void GatewayMetrics::AddLlmCost(const AgentKey& agent, std::string_view provider, std::string_view model, double usd) {
  if (usd <= 0) return;
  impl_->cache.With([&](Cache& c) { CounterOf(impl_->SeriesOf(c, agent).llm_cost, impl_->llm_cost, agent, provider, model, nullptr, "").Increment(usd); });
}

void GatewayMetrics::ObserveLlmFirstToken(std::string_view provider, std::string_view model, double seconds) {
  impl_->cache.With([&](Cache& c) {
    Histogram*& histogram = c.first_tokens[Key({provider, model})];
    if (histogram == nullptr) histogram = &impl_->first_tokens.Add({{"provider", std::string(provider)}, {"model", std::string(model)}}, kFirstTokenBuckets);
    histogram->Observe(seconds);
  });
}

void GatewayMetrics::SetLlmCooldown(std::string_view provider, std::string_view model, bool cooling) {
  impl_->cache.With([&](Cache& c) {
    Gauge*& gauge = c.cooldowns[Key({provider, model})];
    if (gauge == nullptr) gauge = &impl_->cooldowns.Add({{"provider", std::string(provider)}, {"model", std::string(model)}});
    gauge->Set(cooling ? 1 : 0);
  });
}

void GatewayMetrics::RemoveLlmModel(std::string_view provider, std::string_view model) {
  const std::string key = Key({provider, model});
  impl_->cache.With([&](Cache& c) {
    if (const auto found = c.first_tokens.find(key); found != c.first_tokens.end()) {
      impl_->first_tokens.Remove(found->second);
      c.first_tokens.erase(found);
    }
    if (const auto found = c.cooldowns.find(key); found != c.cooldowns.end()) {
      impl_->cooldowns.Remove(found->second);
      c.cooldowns.erase(found);
    }
    const auto drop = [&](std::unordered_map<std::string, Counter*>& known, Family<Counter>& family) {
      std::erase_if(known, [&](const auto& item) {
        if (!item.first.starts_with(key)) return false;
        family.Remove(item.second);
        return true;
      });
    };
    for (auto& [name, agent] : c.agents) {
      drop(agent.llm_requests, impl_->llm_requests);
      drop(agent.llm_tokens, impl_->llm_tokens);
      drop(agent.llm_cost, impl_->llm_cost);
    }
  });
}

void GatewayMetrics::CountAuditRecord() { impl_->audit_records.Increment(); }
void GatewayMetrics::CountAuditWriteFailure() { impl_->audit_failures.Increment(); }
void GatewayMetrics::SetAgents(size_t count) { impl_->agents.Set(static_cast<double>(count)); }

void GatewayMetrics::RemoveAgent(const AgentKey& agent) {
  impl_->cache.With([&](Cache& c) {
    const auto found = c.agents.find(agent.ToString());
    if (found == c.agents.end()) return;
    for (const auto& [key, counter] : found->second.calls) impl_->tool_calls.Remove(counter);
    for (const auto& [key, counter] : found->second.execs) impl_->execs.Remove(counter);
    for (const auto& [key, counter] : found->second.turns) impl_->turns.Remove(counter);
    for (const auto& [key, counter] : found->second.llm_requests) impl_->llm_requests.Remove(counter);
    for (const auto& [key, counter] : found->second.llm_tokens) impl_->llm_tokens.Remove(counter);
    for (const auto& [key, counter] : found->second.llm_cost) impl_->llm_cost.Remove(counter);
    if (found->second.connections != nullptr) impl_->connections.Remove(found->second.connections);
    c.agents.erase(found);
  });
}

std::string GatewayMetrics::Render() const {
  const ProcessStats stats = ReadProcessStats();
  impl_->start_time.Set(stats.start_time_seconds);
  impl_->resident.Set(stats.resident_bytes);
  impl_->virtual_memory.Set(stats.virtual_bytes);
  impl_->open_fds.Set(stats.open_fds);
  impl_->max_fds.Set(stats.max_fds);
  impl_->cache.With([&](Cache&) { impl_->cpu.Increment(std::max(0.0, stats.cpu_seconds - impl_->cpu.Value())); });
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace beige
