#include "base/trash.h"

#include <cerrno>
#include <cstdio>
#include <vector>

#include "base/files.h"

namespace beige {
namespace {
constexpr size_t kStampBytes = 24;  // of FormatTime
}

Result<> MoveToTrash(const std::string& path, const std::string& trash, const std::string& label, SystemTime now) {
  if (!Exists(path)) return {};
  BEIGE_TRY(MakeDirs(trash, 0700));
  const std::string target = JoinPath(trash, FormatTime(now) + "-" + label);
  if (std::rename(path.c_str(), target.c_str()) != 0) return FailErrno(errno, "move " + path + " to the trash");
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
