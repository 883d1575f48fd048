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
// A call that can't be written to the audit (space for its end included) is denied.
class Calls final : public CallService {
 public:
  Calls(Loop& loop, Roster& roster, AuditLog& audit, GatewayMetrics& metrics, const Clock& clock);
  ~Calls() override;  // ends what runs as lost

  Id Start(CallRequest request, CallSink* sink) override;
  void Stdin(Id id, std::string_view bytes) override;
  void StdinEof(Id id) override;
  void Signal(Id id, int number) override;
  void Resize(Id id, v2::TerminalSize size) override;
  void Credit(Id id, uint8_t stream, uint32_t bytes) override;
  void Cancel(Id id) override;

  size_t InFlight(std::string_view agent_uid) const override;
  size_t InFlight() const;

  struct Impl;  // seen by running calls

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace beige

#endif
