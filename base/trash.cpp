#include "base/trash.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/files.h"
#include "base/open_beneath.h"

namespace beige {
namespace {
constexpr size_t kStampBytes = 24;  // of FormatTime
}

Result<> MoveToTrash(const std::string& root, const std::string& path, const std::string& trash, const std::string& label, SystemTime now) {
  const std::filesystem::path what(path);
  const UniqueFd from = OpenBeneath(root, what.parent_path(), O_PATH | O_DIRECTORY);
  if (!from && errno == ENOENT) return {};
  if (!from) return FailErrno(errno, path + " (want directories, not links)");
  struct stat info {};
  if (::fstatat(from.get(), what.filename().c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) return {};
  BEIGE_TRY(MakeDirs(trash, 0700));
  const std::string target = JoinPath(trash, FormatTime(now) + "-" + label);
  if (::renameat(from.get(), what.filename().c_str(), AT_FDCWD, target.c_str()) != 0) return FailErrno(errno, "move " + path + " to the trash");
  return {};
}

Result<> PurgeTrash(const std::string& trash, SystemTime now) {
  if (!Exists(trash)) return {};
  BEIGE_ASSIGN(const std::vector<std::string> names, ListDir(trash));
  Result<> first;
  for (const std::string& name : names) {
    const auto since = ParseTime(name.substr(0, kStampBytes));
    if (since && now - *since > kTrashAge) {
      const Result<> removed = RemoveTree(JoinPath(trash, name));
      if (!removed && first) first = removed;
    }
  }
  return first;
}

}  // namespace beige
