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
  Gauge* connections = nullptr;
};

struct Cache {
  std::unordered_map<std::string, AgentSeries> agents;  // namespace/name
  std::unordered_map<std::string, Histogram*> durations;
};

void AppendPart(std::string& key, std::string_view part) { key.append(part) += '\n'; }
}  // namespace

// Looking a series up in a family hashes a map of labels (167 ns and allocations), so the references are kept here. One mutex over
// increments and removals: a series can't go away under the hand that counts on it.
struct GatewayMetrics::Impl {
  prometheus::Registry registry;
  Family<Counter>& tool_calls = Make<Counter>("beige_tool_calls_total", "Calls by way in, decision and outcome.");
  Family<Histogram>& durations = Make<Histogram>("beige_tool_call_duration_seconds", "From decision to end of an allowed call.");
  Family<Counter>& execs = Make<Counter>("beige_exec_total", "Commands run in sandboxes for their owners.");
  Family<Gauge>& connections = Make<Gauge>("beige_link_connections", "Open connections on an agent's gateway.sock.");
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

void GatewayMetrics::CountAuditRecord() { impl_->audit_records.Increment(); }
void GatewayMetrics::CountAuditWriteFailure() { impl_->audit_failures.Increment(); }
void GatewayMetrics::SetAgents(size_t count) { impl_->agents.Set(static_cast<double>(count)); }

void GatewayMetrics::RemoveAgent(const AgentKey& agent) {
  impl_->cache.With([&](Cache& c) {
    const auto found = c.agents.find(agent.ToString());
    if (found == c.agents.end()) return;
    for (const auto& [key, counter] : found->second.calls) impl_->tool_calls.Remove(counter);
    for (const auto& [key, counter] : found->second.execs) impl_->execs.Remove(counter);
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
