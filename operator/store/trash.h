#ifndef BEIGE_OPERATOR_STORE_TRASH_H_
#define BEIGE_OPERATOR_STORE_TRASH_H_

#include <chrono>

#include "api/agent_ref.h"
#include "api/paths.h"
#include "base/clock.h"
#include "base/result.h"

namespace beige {

inline constexpr std::chrono::hours kTrashAge{7 * 24};

// Moves the agent's workspace to data/operator/trash/<UTC time>-<ns>-<name>. An absent one is success. Never
// through a link: that is Invalid or Denied, and nothing was moved.
Result<> TrashWorkspace(const HomePaths& paths, const AgentKey& key, SystemTime now);
// Removes what has been in the trash for longer than kTrashAge. The first error; the others are gone all the same. Takes as long as it takes.
Result<> PurgeTrash(const HomePaths& paths, SystemTime now);

}  // namespace beige

#endif
