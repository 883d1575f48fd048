#ifndef BEIGE_GATEWAY_AUDIT_RECOVERY_H_
#define BEIGE_GATEWAY_AUDIT_RECOVERY_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace beige::audit {

// What the last run left in the log.
struct Leftover {
  uint64_t last_seq = 0;
  size_t torn_bytes = 0;                                    // of a last line without its newline
  bool torn_is_whole = false;                               // only the newline is missing: the record counts as any other
  std::map<std::string, std::string> unfinished;            // id -> line of an allowed begin without an end
  std::unordered_map<std::string, int64_t> bytes_today;     // agent uid -> bytes of records of `today`
};

// Which files a start has to look through, oldest first: `current` and as many of `rotated` (oldest first) as may hold a begin without an
// end, by the note at the head of each file, or records of `today`. Reads one line of each.
std::vector<std::string> FilesToScan(const std::vector<std::string>& rotated, const std::string& current, std::string_view today);

// Reads the whole of `path` (absent = nothing) into `leftover`, about a gigabyte a second. `today` is the date as in "ts": 2026-11-29.
// Lines that are not ours are passed over.
Result<> Scan(const std::string& path, std::string_view today, Leftover& leftover);

}  // namespace beige::audit

#endif
