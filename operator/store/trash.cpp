#include "operator/store/trash.h"

#include <unistd.h>

namespace beige {

Result<> TrashWorkspace(const HomePaths& paths, const AgentKey& key, SystemTime now) {
  BEIGE_TRY(MoveToTrash(paths.Workspace(key), paths.Trash(), key.namespace_ + "-" + key.name, now));
  ::rmdir((paths.Workspaces() + "/" + key.namespace_ + "/" + key.name).c_str());  // stays if there is more in it
  return {};
}

}  // namespace beige
