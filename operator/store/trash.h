#ifndef BEIGE_OPERATOR_STORE_TRASH_H_
#define BEIGE_OPERATOR_STORE_TRASH_H_

#include "api/agent_ref.h"
#include "api/paths.h"
#include "base/trash.h"

namespace beige {

// Moves the agent's workspace to data/operator/trash/<UTC time>-<ns>-<name>. An absent one is success. Never
// through a link: that is Invalid or Denied, and nothing was moved.
Result<> TrashWorkspace(const HomePaths& paths, const AgentKey& key, SystemTime now);

}  // namespace beige

#endif
