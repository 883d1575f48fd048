#include "gateway/publish/skill_copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <vector>

#include "base/random.h"
#include "base/unique_fd.h"

namespace beige {
namespace {
struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

Result<std::vector<std::string>> NamesIn(int directory, const std::string& shown) {
  const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return FailErrno(errno, "open " + shown);
  const std::unique_ptr<DIR, CloseDir> dir(::fdopendir(copy));
  if (!dir) {
    ::close(copy);
    return FailErrno(errno, "list " + shown);
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// What a walk does at each entry; `relative` is the path below the skill's folder.
struct Visitor {
  std::function<Result<>(const std::string& relative)> on_directory;
  std::function<Result<>(int parent, const std::string& name, const std::string& relative, const struct stat& st)> on_file;
};

class Walk {
 public:
  Walk(std::string shown, const Visitor& visitor) : shown_(std::move(shown)), visitor_(visitor) {}

  Result<> Run(int directory, const std::string& relative, int depth) {
    if (depth > kMaxSkillDepth) return Fail(Code::kInvalid, shown_ + ": folders deeper than " + std::to_string(kMaxSkillDepth));
    BEIGE_ASSIGN(const auto names, NamesIn(directory, shown_));
    for (const std::string& name : names) {
      struct stat st {};
      if (::fstatat(directory, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) continue;
        return FailErrno(errno, "stat " + shown_ + "/" + relative + name);
      }
      if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) continue;
      if (++entries_ > kMaxSkillEntries) return Fail(Code::kInvalid, shown_ + ": more than " + std::to_string(kMaxSkillEntries) + " files and folders");
      if (S_ISREG(st.st_mode)) {
        bytes_ += static_cast<uint64_t>(st.st_size);
        if (bytes_ > kMaxSkillBytes) return Fail(Code::kInvalid, shown_ + ": larger than the limit of 64 MiB");
        BEIGE_TRY(visitor_.on_file(directory, name, relative + name, st));
        continue;
      }
      const UniqueFd child(::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!child) return FailErrno(errno, "open " + shown_ + "/" + relative + name);
      BEIGE_TRY(visitor_.on_directory(relative + name));
      BEIGE_TRY(Run(child.get(), relative + name + "/", depth + 1));
    }
    return {};
  }

 private:
  std::string shown_;
  const Visitor& visitor_;
  int entries_ = 0;
  uint64_t bytes_ = 0;
};

Result<> WalkSkill(const std::string& source, const Visitor& visitor) {
  // The folder itself is the owner's choice and may be reached by a link.
  const UniqueFd root(::open(source.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return FailErrno(errno, "open " + source);
  return Walk(source, visitor).Run(root.get(), "", 0);
}

Result<> CopyFile(int parent, const std::string& name, const std::string& target, uint64_t& budget) {
  // O_NONBLOCK: what was a file a moment ago may be a FIFO now.
  const UniqueFd in(::openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat st {};
  if (!in || ::fstat(in.get(), &st) != 0 || !S_ISREG(st.st_mode)) return {};
  const mode_t mode = (st.st_mode & 0111) != 0 ? 0755 : 0644;
  const UniqueFd out(::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!out) return FailErrno(errno, "create " + target);
  std::vector<char> chunk(256 << 10);
  for (;;) {
    const ssize_t n = ::read(in.get(), chunk.data(), chunk.size());
    if (n == 0) break;
    if (n < 0) {
      if (errno == EINTR) continue;
      return FailErrno(errno, "read for " + target);
    }
    if (static_cast<uint64_t>(n) > budget) return Fail(Code::kInvalid, target + ": the skill is larger than the limit of 64 MiB");
    budget -= static_cast<uint64_t>(n);
    for (ssize_t done = 0; done < n;) {
      const ssize_t w = ::write(out.get(), chunk.data() + done, static_cast<size_t>(n - done));
      if (w < 0 && errno != EINTR) return FailErrno(errno, "write " + target);
      if (w > 0) done += w;
    }
  }
  if (::fchmod(out.get(), mode) != 0) return FailErrno(errno, "chmod " + target);
  return {};
}

Result<> MakeDirectory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0) return FailErrno(errno, "mkdir " + path);
  if (::chmod(path.c_str(), 0755) != 0) return FailErrno(errno, "chmod " + path);
  return {};
}
}  // namespace

Result<std::string> SkillFingerprint(const std::string& source) {
  std::string all;
  Visitor visitor;
  visitor.on_directory = [&](const std::string& relative) -> Result<> {
    all.append("d ").append(relative) += '\0';
    return {};
  };
  visitor.on_file = [&](int, const std::string&, const std::string& relative, const struct stat& st) -> Result<> {
    all.append("f ").append(relative) += '\0';
    for (const int64_t v : {static_cast<int64_t>(st.st_size), static_cast<int64_t>(st.st_mtim.tv_sec), static_cast<int64_t>(st.st_mtim.tv_nsec),
                            static_cast<int64_t>(st.st_ctim.tv_sec), static_cast<int64_t>(st.st_ctim.tv_nsec), static_cast<int64_t>(st.st_ino)}) {
      all += std::to_string(v) + " ";
    }
    return {};
  };
  BEIGE_TRY(WalkSkill(source, visitor));
  return Sha256Hex(all);
}

Result<> CopySkill(const std::string& source, const std::string& target) {
  BEIGE_TRY(MakeDirectory(target));
  uint64_t budget = kMaxSkillBytes;
  Visitor visitor;
  visitor.on_directory = [&](const std::string& relative) { return MakeDirectory(target + "/" + relative); };
  visitor.on_file = [&](int parent, const std::string& name, const std::string& relative, const struct stat&) {
    return CopyFile(parent, name, target + "/" + relative, budget);
  };
  return WalkSkill(source, visitor);
}

}  // namespace beige
