#ifndef BEIGE_BASE_TRASH_H_
#define BEIGE_BASE_TRASH_H_

#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace beige {

// What an agent has left is kept this long.
inline constexpr std::chrono::hours kTrashAge{7 * 24};

// Moves `path` to <trash>/<UTC time>-<label>, on the same mount. Absent is success. No link beneath `root` is followed: it would move
// something else of the host away.
Result<> MoveToTrash(const std::string& root, const std::string& path, const std::string& trash, const std::string& label, SystemTime now);
// Removes what has been there for longer than kTrashAge. The first error; the others are gone all the same. Takes as long as it takes.
Result<> PurgeTrash(const std::string& trash, SystemTime now);

}  // namespace beige

#endif
