#ifndef BEIGE_CLI_SUPERVISE_UP_LOCK_H_
#define BEIGE_CLI_SUPERVISE_UP_LOCK_H_

#include <sys/types.h>

#include <optional>

#include "api/paths.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace beige::cli {

// One supervisor per home: a lock on run/up.lock, which also holds its pid for people. The kernel drops the lock however the process ends.
// Conflict, naming the pid, when another one holds it. The process must open that file nowhere else: closing it gives the lock back.
Result<UniqueFd> TakeUpLock(const HomePaths& paths);

// Pid of the supervisor that holds the lock now; nullopt = none.
std::optional<pid_t> SupervisorOf(const HomePaths& paths);

}  // namespace beige::cli

#endif
