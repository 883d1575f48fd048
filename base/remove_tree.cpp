#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/unique_fd.h"

namespace beige {
namespace {
// Deeper directories are moved up to the root of the tree first: a hostile tree is deeper than there are descriptors or stack.
constexpr int kMaxDepth = 64;
// Somebody may be writing into it all the while.
constexpr int kMaxPasses = 16;

std::string ProcPath(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

class TreeRemover {
 public:
  explicit TreeRemover(std::string top) : top_(std::move(top)) {}

  Result<> Remove(int parent, const std::string& name) {
    Entry(parent, name, 0);
    return std::move(first_);
  }

 private:
  void Failed(int number, const std::string& name) {
    if (first_) first_ = FailErrno(number, "remove " + top_ + (name.empty() ? "" : ": " + name));
  }

  // Its owner may have taken every right away, also from the owner.
  static UniqueFd OpenDirectory(int parent, const std::string& name) {
    UniqueFd handle(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!handle) return handle;
    struct stat st {};
    if (::fstat(handle.get(), &st) == 0 && (st.st_mode & 0700) != 0700) (void)::chmod(ProcPath(handle.get()).c_str(), 0700);
    return UniqueFd(::openat(handle.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

  void Entry(int parent, const std::string& name, int depth) {
    if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return;
    if (errno != EISDIR && errno != EPERM) return Failed(errno, name);
    const UniqueFd fd = OpenDirectory(parent, name);
    if (!fd) return Failed(errno, name);
    if (depth == 0) root_ = fd.get();
    if (depth >= kMaxDepth) {
      if (::renameat(parent, name.c_str(), root_, (".deep-" + std::to_string(moved_++)).c_str()) != 0) Failed(errno, name);
      return;
    }
    for (int pass = 0;; ++pass) {
      const size_t moved = moved_;
      Contents(fd.get(), depth);
      if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return;
      const bool again = errno == ENOTEMPTY && first_ && (pass < kMaxPasses || (depth == 0 && moved_ != moved));
      if (!again) return Failed(errno, depth == 0 ? "" : name);
    }
  }

  void Contents(int fd, int depth) {
    const int copy = ::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) return Failed(errno, "");
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(copy), ::closedir);
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(dir.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    for (const std::string& name : names) Entry(fd, name, depth + 1);
  }

  const std::string top_;
  int root_ = -1;
  size_t moved_ = 0;
  Result<> first_;
};
}  // namespace

Result<> RemoveTree(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::string parent = whole.parent_path().empty() ? "." : whole.parent_path().string();
  const UniqueFd fd(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return errno == ENOENT || errno == ENOTDIR ? Result<>() : FailErrno(errno, "remove " + path);
  return TreeRemover(path).Remove(fd.get(), whole.filename().string());
}

}  // namespace beige
