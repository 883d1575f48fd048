#include "operator/store/trash.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "base/files.h"

namespace beige {
namespace {
constexpr size_t kStampBytes = 24;  // of FormatTime
}

Result<> TrashWorkspace(const HomePaths& paths, const AgentKey& key, SystemTime now) {
  const std::string workspace = paths.Workspace(key);
  if (!Exists(workspace)) return {};
  BEIGE_TRY(MakeDirs(paths.Trash(), 0700));
  const std::string target = paths.Trash() + "/" + FormatTime(now) + "-" + key.namespace_ + "-" + key.name;
  if (std::rename(workspace.c_str(), target.c_str()) != 0) return FailErrno(errno, "move " + workspace + " to the trash");
  ::rmdir((paths.Workspaces() + "/" + key.namespace_ + "/" + key.name).c_str());  // stays if there is more in it
  return {};
}

Result<> PurgeTrash(const HomePaths& paths, SystemTime now) {
  if (!Exists(paths.Trash())) return {};
  BEIGE_ASSIGN(const std::vector<std::string> names, ListDir(paths.Trash()));
  Result<> first;
  for (const std::string& name : names) {
    const auto since = ParseTime(name.substr(0, kStampBytes));
    if (since && now - *since > kTrashAge) {
      const Result<> removed = RemoveTree(JoinPath(paths.Trash(), name));
      if (!removed && first) first = removed;
    }
  }
  return first;
}

}  // namespace beige
