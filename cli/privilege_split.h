#ifndef BEIGE_CLI_PRIVILEGE_SPLIT_H_
#define BEIGE_CLI_PRIVILEGE_SPLIT_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "api/paths.h"
#include "cli/processes.h"
#include "cli/supervise/services.h"

namespace beige::cli {

// Whom a running process is, out of /proc/PID/status.
struct ProcessIdentity {
  uid_t uid = 0;
  std::vector<gid_t> groups;  // the effective one too
};
std::optional<ProcessIdentity> IdentityOf(pid_t pid);

// How far the running gateway is kept from the engine and from what the operator obeys: by users of their own (`uid`: other uids, and the
// engine's socket is closed to the gateway's), by the view that `beige up` gave it (`namespace`), or not at all (`none`). "unknown" when not
// both run. `supervised`: `beige up` started them, and `up` is what it wrote.
PrivilegeSplit SplitOf(const std::optional<OperatorInfo>& operator_, const std::optional<GatewayInfo>& gateway, bool supervised, const SupervisorInfo& up);

}  // namespace beige::cli

#endif
