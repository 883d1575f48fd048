#ifndef BEIGE_GATEWAY_AUDIT_ROTATION_H_
#define BEIGE_GATEWAY_AUDIT_ROTATION_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace beige::audit {

// audit.jsonl becomes audit-20261129T120000.123Z.jsonl: sorts by time. `time` as FormatTime writes it.
std::string RotatedName(const std::string& path, std::string_view time);

// The rotated files of the log at `path`, oldest first.
std::vector<std::string> RotatedFiles(const std::string& path);

// Removes those that are older than `keep` by both their name and their last write, so that neither a clock that was wrong once nor a
// copied file costs records. Returns the names of what is gone.
std::vector<std::string> RemoveOld(const std::string& path, SystemTime now, std::chrono::nanoseconds keep);

}  // namespace beige::audit

#endif
