#ifndef BEIGE_GATEWAY_APP_HOME_LOCK_H_
#define BEIGE_GATEWAY_APP_HOME_LOCK_H_

#include "api/paths.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace beige {

// One gateway on a home: a lock on data/gateway/lock for as long as the descriptor lives. The file holds the pid. Conflict, naming the
// other's pid, when it is taken.
Result<UniqueFd> LockHome(const HomePaths& paths);

}  // namespace beige

#endif
