#ifndef BEIGE_GATEWAY_AUDIT_RECORD_H_
#define BEIGE_GATEWAY_AUDIT_RECORD_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "gateway/audit/audit_log.h"

namespace beige::audit {

// Arguments beyond this many bytes (each counted with a NUL, as execve does) become {"cut":true,"bytes":n,"sha256":"..."}; the digest is
// of the arguments, each followed by a NUL.
inline constexpr size_t kMaxArgBytes = 4096;
// A tool's name or a claim beyond this many bytes is cut and ends in "...".
inline constexpr size_t kMaxText = 512;
inline constexpr size_t kMaxEndBytes = 1024;

struct Stamp {
  std::string_view time;  // RFC 3339, UTC, milliseconds
  uint64_t seq = 0;
  std::string_view id;
};

// Each appends one whole line with its newline. Written by hand: a record costs about a microsecond and no allocation.
void AppendBegin(std::string& out, const Stamp& stamp, const BeginRecord& record);
void AppendEnd(std::string& out, const Stamp& stamp, const AgentRef& agent, std::string_view tool, const EndRecord& record);
void AppendNote(std::string& out, const Stamp& stamp, std::string_view kind, const AgentRef* agent, std::string_view actor, std::string_view message);
// The first record of a file after a rotation: a note that names the file before and, as "openSince", the seq of the oldest begin that had
// no end then; null = none.
void AppendContinues(std::string& out, const Stamp& stamp, std::string_view previous, uint64_t open_since);

// FormatTime with the part that changes once a second kept.
class TimeText {
 public:
  std::string_view Of(SystemTime time);

 private:
  int64_t second_ = -1;
  std::string text_;
};

}  // namespace beige::audit

#endif
