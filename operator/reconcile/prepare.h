#ifndef BEIGE_OPERATOR_RECONCILE_PREPARE_H_
#define BEIGE_OPERATOR_RECONCILE_PREPARE_H_

#include "api/paths.h"
#include "base/result.h"
#include "operator/store/identity_store.h"

namespace beige {

// This process may give files to other uids and go on to handle them (CAP_CHOWN and CAP_DAC_OVERRIDE: root, or a service user who was
// given both), so that every agent can have a uid of its own.
bool MayGiveFilesAway();

// Makes what the operator gives to a sandbox: the workspace (0700, owned by the sandbox's uid, all of what an earlier incarnation left in
// it too) and passwd and group. Settled directories cost a few stat calls and no write. Denied, saying so, when the workspace belongs to
// somebody else and can't be given away. Never follows a link
// beneath `agents/`: those of an agent and of a gateway lead anywhere.
Result<> PrepareDirectories(const HomePaths& paths, const Identity& identity);

}  // namespace beige

#endif
