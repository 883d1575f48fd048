#include "operator/reconcile/memory.h"

#include <tuple>

namespace beige {
using runtime::Observed;
using runtime::State;

std::string StartId(const Observed& sandbox) { return sandbox.id + "@" + sandbox.started_at; }

const Observed* ChooseSandbox(const std::vector<Observed>& sandboxes, const std::string& spec_hash) {
  const Observed* best = nullptr;
  const auto rank = [&](const Observed& o) {
    return std::make_tuple(o.spec_hash == spec_hash, o.state == State::kRunning || o.state == State::kPaused, o.started_at, o.id);
  };
  for (const Observed& sandbox : sandboxes) {
    if (!best || rank(sandbox) > rank(*best)) best = &sandbox;
  }
  return best;
}

SandboxMemory Remember(SandboxMemory memory, const Observed* current, SteadyTime now) {
  const auto uptime = [&] { return memory.running_start.empty() ? std::chrono::nanoseconds(0) : now - memory.running_since; };
  if (!current) {
    if (memory.had_sandbox) {
      memory.restart = AfterExit(memory.restart, uptime(), now);
      memory.exit_reason = "Removed";
      memory.exit_message = "the container was removed by somebody else";
    }
    memory.had_sandbox = false;
    memory.running_start.clear();
    return memory;
  }
  memory.had_sandbox = true;
  if (current->state == State::kRunning || current->state == State::kPaused) {
    if (memory.running_start != StartId(*current)) {
      memory.running_start = StartId(*current);
      memory.running_since = now;
    }
    return memory;
  }
  if (current->state != State::kExited && current->state != State::kDead) return memory;
  const std::string exit = StartId(*current) + "/" + current->finished_at;
  if (memory.counted_exit == exit) return memory;
  memory.counted_exit = exit;
  if (current->id != memory.stopped_for_mismatch && current->id != memory.stopped_for_disk) {
    memory.restart = AfterExit(memory.restart, uptime(), now);
    memory.exit_reason = current->oom_killed ? "OOMKilled" : current->exit_code == 0 ? "Completed" : "Error";
    memory.exit_message = current->oom_killed ? "the kernel ended PID 1 for want of memory; raise spec.sandbox.resources.limits.memory"
                                              : "PID 1 ended with exit code " + std::to_string(current->exit_code);
  }
  memory.running_start.clear();
  return memory;
}

}  // namespace beige
