#ifndef BEIGE_GATEWAY_PUBLISH_SKILL_COPY_H_
#define BEIGE_GATEWAY_PUBLISH_SKILL_COPY_H_

#include <cstdint>
#include <string>

#include "base/result.h"

namespace beige {

inline constexpr uint64_t kMaxSkillBytes = 64ull << 20;
inline constexpr int kMaxSkillEntries = 10000;
inline constexpr int kMaxSkillDepth = 32;

// Digest of names, sizes, times and modes of what CopySkill would copy: equal = nothing has changed since.
// NotFound when the folder is gone, Invalid when it is over a limit.
Result<std::string> SkillFingerprint(const std::string& source);

// Copies regular files and folders of `source` to the new folder `target`; links, sockets, FIFOs and devices are left out, whatever they
// are replaced by meanwhile (each step opens relative to its parent, without following links). Files get 0644 or 0755, folders 0755.
Result<> CopySkill(const std::string& source, const std::string& target);

}  // namespace beige

#endif
