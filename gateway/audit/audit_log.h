#ifndef BEIGE_GATEWAY_AUDIT_AUDIT_LOG_H_
#define BEIGE_GATEWAY_AUDIT_AUDIT_LOG_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/config.h"
#include "base/result.h"
#include "gateway/calls/call.h"

namespace beige {

class Clock;
class GatewayMetrics;

struct BeginRecord {
  const CallRequest* request = nullptr;
  bool allowed = false;
  std::string_view rule;    // which rule decided: "tools", "exec", ...
  std::string_view reason;  // of a denial
  int64_t generation = 0;   // of the grant that decided
};

struct EndRecord {
  const CallRequest* request = nullptr;
  std::string_view outcome;  // ok, error, timeout, cancelled, lost, unknown
  int64_t duration_us = 0;
  int exit_code = 0;
  int signal = 0;            // 0 = null
  uint64_t stdin_bytes = 0;
  uint64_t stdout_bytes = 0;
  uint64_t stderr_bytes = 0;
  std::string_view error;
};

struct AuditLimits {
  int64_t rotate_bytes = 256LL << 20;  // the file is renamed to audit-<time>.jsonl beyond
  int64_t reserve_bytes = 4LL << 20;   // preallocated beside the log, 1 KiB for each end that may come
};

// Append-only JSON lines, 0600. Each record is one write() of a whole line; seq grows by one per record across rotation and restarts.
// At open: a torn last line is closed off, begins without an end get an end with outcome "unknown".
// An allowed begin reserves room for its end, so that an end is never lost to a full disk. Core thread only; fdatasync runs on a
// thread of its own (sync batch: within 50 ms).
class AuditLog {
 public:
  static Result<std::unique_ptr<AuditLog>> Open(const std::string& path, AuditSync sync, const Clock& clock, GatewayMetrics& metrics,
                                                const AuditLimits& limits = {});
  virtual ~AuditLog() = default;

  // The call's id. An error means: not recorded, so do not run it.
  virtual Result<std::string> Begin(const BeginRecord& record) = 0;
  virtual void End(const std::string& id, const EndRecord& record) = 0;
  // event "note": kind grant | config | auth | control. Counts for its agent; those that the agent causes (actor "sandbox") are kept once an
  // hour when it is over its budget, with the number of those that were not: that is no error.
  virtual Result<> Note(std::string_view kind, const AgentRef* agent, std::string_view actor, std::string_view message) = 0;
  virtual void SetSync(AuditSync sync) = 0;
  // Beyond it this agent's calls are refused until midnight UTC, with one summary note a second; 0 = no budget.
  virtual void SetBudget(int64_t per_agent_bytes_per_day) = 0;
  // Rotated files older than this are removed; 0 = never. Size alone never removes one.
  virtual void SetKeep(std::chrono::nanoseconds keep) = 0;
  // Once a second: ends that could not be written, summaries that are due, the reserve, old files; and goes on at its path when the file
  // there is another one (moved, removed, its file system mounted anew).
  virtual void Tick() = 0;
};

}  // namespace beige

#endif
