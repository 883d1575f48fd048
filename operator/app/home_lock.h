#ifndef BEIGE_OPERATOR_APP_HOME_LOCK_H_
#define BEIGE_OPERATOR_APP_HOME_LOCK_H_

#include "api/paths.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace beige {

// At most one operator per home, held by a lock on data/operator/operator.lock for as long as the descriptor lives. Conflict, naming the
// pid of the other, when there is one.
Result<UniqueFd> LockHome(const HomePaths& paths);

}  // namespace beige

#endif
