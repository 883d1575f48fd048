#include "gateway/calls/calls.h"

#include <vector>

#include "gateway/calls/calls_impl.h"
#include "gateway/tools/tool_router.h"

namespace beige {
namespace {
constexpr std::chrono::seconds kSweep{1};
constexpr size_t kMaxName = 64;  // of a tool in a text; names from payloads can be anything

// What decides about a call: the policy, then bounds and what can't run now. `text` keeps a reason that is made here alive.
Decision Judge(const CallRequest& request, const std::optional<Standing>& standing, int64_t in_flight, std::string& text) {
  if (!standing) return {false, "agent", "there is no such agent here", 126};
  Decision decision = standing->policy->Decide(request.kind, request.surface, request.tool);
  if (!decision.allow) return decision;
  if (!request.unfit.empty()) return {false, "arguments", request.unfit, 126};
  if (request.kind == CallKind::kLlm) return {false, "model", "requests to models are none of these calls", 126};
  if (in_flight >= standing->max_calls) {
    text = "too many calls in flight: the limit is " + std::to_string(standing->max_calls) + " for each agent; wait for some to end";
    return {false, "limits", text, 126};
  }
  if (request.kind == CallKind::kTool) {
    const Cell* cell = standing->tools->Find(request.tool);
    if (cell == nullptr || cell->state() == Cell::State::kFailed) {
      text = "unavailable: " + (cell == nullptr ? "it has no cell" : cell->reason());
      return {false, "cells", text, 126};
    }
  }
  return decision;
}

void CountDenied(GatewayMetrics& metrics, const CallRequest& request, const std::optional<Standing>& standing) {
  if (request.kind == CallKind::kExec) {
    metrics.CountExec(request.agent.key(), "denied");
    return;
  }
  // Names from payloads must not become labels.
  const bool known = standing && (request.kind == CallKind::kCoreTool ? Policy::IsCoreTool(request.tool) : standing->policy->Knows(request.tool));
  metrics.CountToolCall(request.agent.key(), known ? std::string_view(request.tool) : "unknown", SurfaceName(request.surface), "deny", "denied");
}

std::string Text(const CallRequest& request, std::string_view reason) {
  std::string text = request.tool.substr(0, kMaxName);
  return text.append(": ").append(reason);
}
}  // namespace

Calls::Calls(Loop& loop, Roster& roster, AuditLog& audit, GatewayMetrics& metrics, const Clock& clock)
    : impl_(std::make_unique<Impl>(loop, roster, audit, metrics, clock)) {
  roster.Bind(this);
}

Calls::~Calls() {
  while (!impl_->running.empty()) impl_->running.begin()->second->Stop("the gateway is stopping");
  impl_->roster.Bind(nullptr);
}

Calls::Id Calls::Start(CallRequest request, CallSink* sink) {
  Impl& impl = *impl_;
  const auto standing = impl.roster.StandingOf(request.agent.uid);
  const auto kind = static_cast<size_t>(request.kind);
  const auto counts = impl.in_flight.find(std::string_view(request.agent.uid));
  std::string text;
  const Decision decision = Judge(request, standing, counts == impl.in_flight.end() ? 0 : counts->second.of[kind], text);
  const int64_t generation = standing ? standing->policy->generation() : 0;
  auto begun = impl.audit.Begin({&request, decision.allow, decision.rule, decision.reason, generation});
  if (!decision.allow) {
    CountDenied(impl.metrics, request, standing);
    sink->OnExit({BGE_HOW_DENIED, decision.exit_code, Text(request, decision.reason), begun ? std::move(*begun) : ""});
    return 0;
  }
  if (!begun) {
    // What the log can't record is not run.
    CountDenied(impl.metrics, request, standing);
    sink->OnExit({BGE_HOW_DENIED, 126, Text(request, "denied: " + begun.error().message), ""});
    return 0;
  }
  const Id id = impl.next++;
  auto call = std::make_unique<RunningCall>(impl, id, std::move(request), sink, std::move(*begun), impl.clock.Now());
  RunningCall* raw = call.get();
  ++impl.in_flight[raw->request().agent.uid].of[kind];
  impl.running.emplace(id, std::move(call));
  if (!impl.sweeping) {
    impl.sweeping = true;
    impl.sweep.StartEvery(kSweep, [this] {
      std::vector<Id> ids;
      for (const auto& [running_id, running] : impl_->running) ids.push_back(running_id);
      const SteadyTime now = impl_->clock.Now();
      for (const Id running_id : ids) {
        if (RunningCall* running = impl_->Find(running_id)) running->Sweep(now);
      }
      if (impl_->running.empty()) {
        impl_->sweeping = false;
        impl_->sweep.Cancel();
      }
    });
  }
  if (raw->request().kind == CallKind::kTool) {
    raw->RunTool(standing->tools->Find(raw->request().tool));
  } else {
    raw->RunInSandbox(standing->control);
  }
  return impl.running.contains(id) ? id : 0;
}

void Calls::Stdin(Id id, std::string_view bytes) {
  if (RunningCall* call = impl_->Find(id)) call->Stdin(bytes);
}
void Calls::StdinEof(Id id) {
  if (RunningCall* call = impl_->Find(id)) call->StdinEof();
}
void Calls::Signal(Id id, int number) {
  if (RunningCall* call = impl_->Find(id)) call->Signal(number);
}
void Calls::Resize(Id id, v2::TerminalSize size) {
  if (RunningCall* call = impl_->Find(id)) call->Resize(size);
}
void Calls::Credit(Id id, uint8_t stream, uint32_t bytes) {
  if (RunningCall* call = impl_->Find(id)) call->Credit(stream, bytes);
}
void Calls::Cancel(Id id) {
  if (RunningCall* call = impl_->Find(id)) call->Cancel();
}

size_t Calls::InFlight(std::string_view agent_uid) const {
  const auto it = impl_->in_flight.find(agent_uid);
  return it == impl_->in_flight.end() ? 0 : static_cast<size_t>(it->second.All());
}
size_t Calls::InFlight() const { return impl_->running.size(); }

}  // namespace beige
