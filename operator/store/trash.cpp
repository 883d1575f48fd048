#include "operator/store/trash.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "base/open_beneath.h"

namespace beige {

Result<> TrashWorkspace(const HomePaths& paths, const AgentKey& key, SystemTime now) {
  BEIGE_TRY(MoveToTrash(paths.Workspaces(), paths.Workspace(key), paths.Trash(), key.namespace_ + "-" + key.name, now));
  const std::filesystem::path agent = std::filesystem::path(paths.Workspace(key)).parent_path();
  const UniqueFd parent = OpenBeneath(paths.Workspaces(), agent.parent_path(), O_PATH | O_DIRECTORY);
  if (parent) ::unlinkat(parent.get(), agent.filename().c_str(), AT_REMOVEDIR);  // stays if there is more in it
  return {};
}

}  // namespace beige
