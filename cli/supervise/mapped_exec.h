#ifndef BEIGE_CLI_SUPERVISE_MAPPED_EXEC_H_
#define BEIGE_CLI_SUPERVISE_MAPPED_EXEC_H_

#include <optional>
#include <string>
#include <vector>

#include "base/user_namespace.h"

namespace beige::cli {

// Who the gateway of a `beige up` by root is.
struct GatewayUser {
  std::vector<IdMap> ids;           // of its user namespace: root there is a uid of the host that nobody else has; agents' uids are their own
  std::vector<std::string> mapped;  // directories, real paths, whose files of root's are that uid's in its eyes, and the other way round
  bool operator==(const GatewayUser&) const = default;
};

// `beige internal mapped ...`, run by root: in a mount namespace of its own, remounts `mapped` with ids translated (mount_setattr(2),
// Linux 5.12), gives everything of root's up and becomes the program. On disk nothing changes. A directory that only root may pass on the
// way to one of them is covered, with nothing in it but the way. Returns an exit status only when something of it fails.
int ExecMapped(const std::vector<std::string>& arguments);

// The command that does so; bubblewrap's follows.
std::vector<std::string> MappedCommand(const GatewayUser& user);

// The uppermost directory above `path` that is closed to strangers; "" when there is none.
std::string ClosedAbove(const std::string& path);

}  // namespace beige::cli

#endif
