#include "operator/store/trash.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/open_beneath.h"

namespace beige {
namespace {
constexpr size_t kStampBytes = 24;  // of FormatTime
}

Result<> TrashWorkspace(const HomePaths& paths, const AgentKey& key, SystemTime now) {
  const std::filesystem::path workspace(paths.Workspace(key));
  const std::filesystem::path agent = workspace.parent_path();
  // A link here would move a directory of the host away.
  const UniqueFd from = OpenBeneath(paths.Workspaces(), agent, O_PATH | O_DIRECTORY);
  if (!from && errno == ENOENT) return {};
  if (!from) return FailErrno(errno, "workspace " + workspace.string() + " (want directories, not links)");
  struct stat info {};
  if (::fstatat(from.get(), workspace.filename().c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) return {};
  BEIGE_TRY(MakeDirs(paths.Trash(), 0700));
  const std::string target = paths.Trash() + "/" + FormatTime(now) + "-" + key.namespace_ + "-" + key.name;
  if (::renameat(from.get(), workspace.filename().c_str(), AT_FDCWD, target.c_str()) != 0) return FailErrno(errno, "move " + workspace.string() + " to the trash");
  const UniqueFd parent = OpenBeneath(paths.Workspaces(), agent.parent_path(), O_PATH | O_DIRECTORY);
  if (parent) ::unlinkat(parent.get(), agent.filename().c_str(), AT_REMOVEDIR);  // stays if there is more in it
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
