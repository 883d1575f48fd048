#include "operator/app/metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <utility>
#include <vector>

#include "base/files.h"

namespace beige {
namespace prom = prometheus;
namespace {
const prom::Histogram::BucketBoundaries kSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
const char* const kTruths[] = {"Unknown", "False", "True"};  // in the order of Truth

double ResidentBytes() {
  const auto statm = ReadFile("/proc/self/statm", 256);
  long size = 0, resident = 0;
  if (!statm || std::sscanf(statm->c_str(), "%ld %ld", &size, &resident) != 2) return 0;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double OpenDescriptors() {
  const auto names = ListDir("/proc/self/fd");
  return names ? static_cast<double>(names->size()) : 0;
}
}  // namespace

struct Metrics::State {
  prom::Registry registry;
  template <typename Type>
  prom::Family<Type>& Family(prom::detail::Builder<Type> builder, const char* name, const char* help) {
    return builder.Name(name).Help(help).Register(registry);
  }
  prom::Family<prom::Gauge>& build = Family(prom::BuildGauge(), "beige_build_info", "1, labelled with the program and its version");
  prom::Family<prom::Gauge>& agents = Family(prom::BuildGauge(), "beige_agents", "Agents that the source names");
  prom::Family<prom::Gauge>& condition = Family(prom::BuildGauge(), "beige_agent_condition", "1 for the status that the condition has");
  prom::Family<prom::Counter>& reconciles = Family(prom::BuildCounter(), "beige_reconcile_total", "Looks at an agent, by how they ended");
  prom::Family<prom::Histogram>& reconcile_seconds =
      Family(prom::BuildHistogram(), "beige_reconcile_duration_seconds", "Time of one look at an agent");
  prom::Family<prom::Gauge>& depth = Family(prom::BuildGauge(), "beige_workqueue_depth", "Agents that wait for a worker");
  prom::Family<prom::Counter>& retries = Family(prom::BuildCounter(), "beige_workqueue_retries_total", "Looks that were put off after an error");
  prom::Family<prom::Counter>& requests =
      Family(prom::BuildCounter(), "beige_engine_requests_total", "Requests to the container engine, by HTTP status or error");
  prom::Family<prom::Histogram>& request_seconds =
      Family(prom::BuildHistogram(), "beige_engine_request_duration_seconds", "Time of a request to the container engine");
  prom::Family<prom::Counter>& starts = Family(prom::BuildCounter(), "beige_sandbox_starts_total", "Starts of sandboxes, by why");
  prom::Family<prom::Histogram>& start_seconds =
      Family(prom::BuildHistogram(), "beige_sandbox_start_duration_seconds", "Time from the plan to the started container");
  prom::Family<prom::Counter>& cpu = Family(prom::BuildCounter(), "process_cpu_seconds_total", "CPU time of the process");
  prom::Family<prom::Gauge>& resident = Family(prom::BuildGauge(), "process_resident_memory_bytes", "Resident memory of the process");
  prom::Family<prom::Gauge>& fds = Family(prom::BuildGauge(), "process_open_fds", "Open descriptors of the process");
  prom::Family<prom::Gauge>& started = Family(prom::BuildGauge(), "process_start_time_seconds", "Unix time at which the process started");

  struct OfAgent {
    std::vector<prom::Gauge*> conditions;
    std::map<std::string, prom::Counter*> starts;  // by reason
  };
  std::mutex mutex;  // of `of_agents` and of removing series; the metrics themselves are thread-safe
  std::map<AgentKey, OfAgent> of_agents;
};

Metrics::Metrics() : state_(std::make_unique<State>()) {
  state_->build.Add({{"component", "operator"}, {"version", BEIGE_VERSION}}).Set(1);
  for (const char* result : {"success", "error", "requeue"}) state_->reconciles.Add({{"result", result}});
  state_->reconcile_seconds.Add({}, kSeconds);
  state_->start_seconds.Add({}, kSeconds);
  state_->started.Add({}).SetToCurrentTime();
}

Metrics::~Metrics() = default;

void Metrics::Reconciled(std::string_view result, double seconds) {
  state_->reconciles.Add({{"result", std::string(result)}}).Increment();
  state_->reconcile_seconds.Add({}, kSeconds).Observe(seconds);
}

void Metrics::SandboxStarted(const AgentKey& key, const std::string& reason, double seconds) {
  state_->start_seconds.Add({}, kSeconds).Observe(seconds);
  std::lock_guard lock(state_->mutex);
  prom::Counter*& counter = state_->of_agents[key].starts[reason];
  if (!counter) counter = &state_->starts.Add({{"namespace", key.namespace_}, {"agent", key.name}, {"reason", reason}});
  counter->Increment();
}

void Metrics::EngineRequest(std::string_view engine, std::string_view operation, std::string_view code, double seconds) {
  const prom::Labels labels = {{"engine", std::string(engine)}, {"operation", std::string(operation)}};
  state_->request_seconds.Add(labels, kSeconds).Observe(seconds);
  prom::Labels with_code = labels;
  with_code["code"] = std::string(code);
  state_->requests.Add(with_code).Increment();
}

void Metrics::AgentStatusChanged(const Agent& agent) {
  const AgentKey key = agent.key();
  std::lock_guard lock(state_->mutex);
  std::vector<prom::Gauge*>& gauges = state_->of_agents[key].conditions;
  if (gauges.empty()) {
    for (const std::string_view type : kConditionTypes) {
      for (const char* truth : kTruths) {
        gauges.push_back(&state_->condition.Add(
            {{"namespace", key.namespace_}, {"agent", key.name}, {"type", std::string(type)}, {"status", truth}}));
      }
    }
  }
  size_t at = 0;
  for (const std::string_view type : kConditionTypes) {
    const Condition* condition = FindCondition(agent.status.conditions, type);
    const size_t now = condition ? static_cast<size_t>(condition->status) : 0;
    for (size_t truth = 0; truth < std::size(kTruths); ++truth) gauges[at++]->Set(truth == now ? 1 : 0);
  }
}

void Metrics::AgentGone(const AgentKey& key) {
  std::lock_guard lock(state_->mutex);
  const auto it = state_->of_agents.find(key);
  if (it == state_->of_agents.end()) return;
  for (prom::Gauge* gauge : it->second.conditions) state_->condition.Remove(gauge);
  for (const auto& [reason, counter] : it->second.starts) state_->starts.Remove(counter);
  state_->of_agents.erase(it);
}

std::string Metrics::Expose(size_t queue_depth, uint64_t queue_retries) {
  State& s = *state_;
  s.depth.Add({}).Set(static_cast<double>(queue_depth));
  const auto raise = [](prom::Counter& counter, double to) {
    if (to > counter.Value()) counter.Increment(to - counter.Value());
  };
  {
    std::lock_guard lock(s.mutex);
    s.agents.Add({}).Set(static_cast<double>(s.of_agents.size()));
    raise(s.retries.Add({}), static_cast<double>(queue_retries));
    raise(s.cpu.Add({}), CpuSeconds());
  }
  s.resident.Add({}).Set(ResidentBytes());
  s.fds.Add({}).Set(OpenDescriptors());
  return prom::TextSerializer().Serialize(s.registry.Collect());
}

}  // namespace beige
