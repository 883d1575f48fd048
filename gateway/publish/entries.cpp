#include "gateway/publish/entries.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/files.h"
#include "base/random.h"

namespace beige {

bool IsEntryName(const std::string& name) {
  return !name.empty() && name.size() <= 255 && name.front() != '.' && name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

Result<Entries> Entries::Open(std::string directory, std::string stage) {
  BEIGE_TRY(MakeDirs(directory, 0755));
  BEIGE_TRY(MakeDirs(stage, 0700));
  return Entries(std::move(directory), std::move(stage));
}

std::string Entries::PathOf(const std::string& name) const { return JoinPath(directory_, name); }
std::string Entries::NewStagePath() const { return JoinPath(stage_, HexEncode(RandomBytes(8))); }

Result<> Entries::Put(const std::string& name, const std::string& staged) const {
  const std::string path = PathOf(name);
  if (::renameat2(AT_FDCWD, staged.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EEXIST) return FailErrno(errno, "publish " + path);
  // A directory that is not empty can't be renamed over: swap, then remove the former one where nobody sees it.
  if (::renameat2(AT_FDCWD, staged.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) != 0) return FailErrno(errno, "publish " + path);
  return RemoveTree(staged);
}

Result<> Entries::Remove(const std::string& name) const {
  const std::string doomed = NewStagePath();
  if (::rename(PathOf(name).c_str(), doomed.c_str()) != 0) {
    if (errno == ENOENT) return {};
    return FailErrno(errno, "withdraw " + PathOf(name));
  }
  return RemoveTree(doomed);
}

Result<> Entries::RemoveAllBut(const std::set<std::string>& wanted) const {
  BEIGE_ASSIGN(const auto names, ListDir(directory_));
  for (const std::string& name : names) {
    if (!wanted.contains(name)) BEIGE_TRY(Remove(name));
  }
  return {};
}

}  // namespace beige
