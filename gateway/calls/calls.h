#ifndef BEIGE_GATEWAY_CALLS_CALLS_H_
#define BEIGE_GATEWAY_CALLS_CALLS_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "gateway/calls/call.h"

namespace beige {

class AuditLog;
class Roster;
class GatewayMetrics;
class Clock;
class Loop;

// The one place of order, for every way in: policy.Decide -> audit begin -> run -> audit end. Core thread only.
//
// A call that can't be written to the audit (space for its end included) is denied. The sink must outlive the call or Cancel it.
class Calls {
 public:
  using Id = uint64_t;  // 0 = already over (denied): OnExit ran before Start returned

  Calls(Loop& loop, Roster& roster, AuditLog& audit, GatewayMetrics& metrics, const Clock& clock);
  ~Calls();

  Id Start(CallRequest request, CallSink* sink);
  void Stdin(Id id, std::string_view bytes);  // at most the window; more ends the call as a protocol error
  void StdinEof(Id id);
  void Signal(Id id, int number);
  void Resize(Id id, v2::TerminalSize size);
  void Credit(Id id, uint8_t stream, uint32_t bytes);  // the sink has consumed output
  void Cancel(Id id);  // the caller went away: kills the whole tree, outcome cancelled

  // In flight, of one agent and of all.
  size_t InFlight(std::string_view agent_uid) const;
  size_t InFlight() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace beige

#endif
