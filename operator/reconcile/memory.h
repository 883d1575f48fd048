#ifndef BEIGE_OPERATOR_RECONCILE_MEMORY_H_
#define BEIGE_OPERATOR_RECONCILE_MEMORY_H_

#include <string>
#include <vector>

#include "base/clock.h"
#include "operator/reconcile/restart.h"
#include "runtime/sandbox.h"

namespace beige {

// One start of one container: its id and start time.
std::string StartId(const runtime::Observed& sandbox);

// What the operator remembers of one incarnation between two looks; all of it may be lost at a restart without harm.
struct SandboxMemory {
  RestartState restart;
  bool had_sandbox = false;           // so that its absence means that somebody removed it
  std::string running_start;          // StartId that was seen running
  SteadyTime running_since{};         // when it was first seen
  std::string counted_exit;           // exit that restart has counted
  std::string exit_reason;            // OOMKilled | Error | Completed | Removed
  std::string exit_message;
  std::string our_start;              // StartId of the last start that we made
  std::string verified;               // StartId that mismatches are about
  std::string verified_ok;            // StartId that was as asked at some time
  std::vector<runtime::Mismatch> mismatches;
  std::string stopped_for_mismatch;   // container id that is kept stopped
  std::string stopped_for_disk;       // container id whose end was no fault of its own
  bool seen_ready = false;            // Ready at some time in this process

  bool operator==(const SandboxMemory&) const = default;
};

// The memory after a look: counts an exit or a removal once, notes a new run. Pure. `current` = nullptr: there is none.
SandboxMemory Remember(SandboxMemory memory, const runtime::Observed* current, SteadyTime now);

// The sandbox to keep among several of one uid (running before stopped, asked-for before other, newest); nullptr if none.
const runtime::Observed* ChooseSandbox(const std::vector<runtime::Observed>& sandboxes, const std::string& spec_hash);

}  // namespace beige

#endif
