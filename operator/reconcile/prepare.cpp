#include "operator/reconcile/prepare.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "base/files.h"
#include "base/open_beneath.h"
#include "base/unique_fd.h"
#include "operator/reconcile/desired.h"

namespace beige {
namespace {
constexpr int kMaxDepth = 200;  // descriptors are held on the way down

// Everything beneath the directory `fd`, then the directory itself: a crash on the way leaves the owner of the top wrong, so that it is
// done again.
Result<> GiveTree(UniqueFd fd, uid_t uid, gid_t gid, int depth) {
  if (depth > kMaxDepth) return Fail(Code::kExhausted, "directories nested deeper than " + std::to_string(kMaxDepth));
  const int raw = fd.get();
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(fd.Release()), ::closedir);
  if (!listing) return FailErrno(errno, "read directory");
  while (const dirent* entry = ::readdir(listing.get())) {
    if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
    UniqueFd child(::openat(raw, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (child) {
      BEIGE_TRY(GiveTree(std::move(child), uid, gid, depth + 1));
    } else if (::fchownat(raw, entry->d_name, uid, gid, AT_SYMLINK_NOFOLLOW) != 0) {
      return FailErrno(errno, std::string("chown ") + entry->d_name);
    }
  }
  if (::fchown(raw, uid, gid) != 0) return FailErrno(errno, "chown directory");
  return {};
}

// Step by step: the gateway may write here as well, and a link of its making would give any directory of the host to the agent.
Result<> PrepareWorkspace(const HomePaths& paths, const AgentKey& key, uid_t uid, gid_t gid) {
  const std::string path = paths.Workspace(key);
  BEIGE_TRY(MakeDirs(paths.Workspaces(), 0700));
  UniqueFd fd(::open(paths.Workspaces().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return FailErrno(errno, "open " + paths.Workspaces());
  for (size_t from = paths.Workspaces().size(); from < path.size();) {
    const size_t to = std::min(path.find('/', from + 1), path.size());
    UniqueFd next = MakeDirectoryIn(fd.get(), path.substr(from + 1, to - from - 1), 0700);
    if (!next) return FailErrno(errno, "workspace " + path + ": " + path.substr(0, to) + " (want a directory, not a link)");
    fd = std::move(next);
    from = to;
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return FailErrno(errno, "stat " + path);
  if (info.st_uid == uid) return {};
  if (!MayGiveFilesAway()) {
    return Fail(Code::kDenied, "workspace " + path + " belongs to uid " + std::to_string(info.st_uid) + " and the sandbox runs as uid " +
                                   std::to_string(uid) + "; run the operator as root or with CAP_CHOWN and CAP_DAC_OVERRIDE, or give the directory to that uid");
  }
  if (auto given = GiveTree(std::move(fd), uid, gid, 0); !given) return FailIn("give workspace " + path, given.error());
  return {};
}

Result<> WriteIfDifferent(const std::string& path, const std::string& content) {
  BEIGE_ASSIGN(const auto present, ReadFileIfExists(path));
  if (present == content) return {};
  return WriteFileAtomic(path, content, 0644);
}
}  // namespace

bool MayGiveFilesAway() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  constexpr uint32_t kWanted = 1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE;
  return (data[0].effective & kWanted) == kWanted;
}

Result<> PrepareDirectories(const HomePaths& paths, const Identity& identity) {
  const uint32_t uid = SandboxUid(identity);
  const uint32_t gid = SandboxGid(identity);
  BEIGE_TRY(PrepareWorkspace(paths, identity.agent.key(), uid, gid));
  const std::string etc = paths.EtcDir(identity.uid());
  BEIGE_TRY(MakeDirs(etc, 0755));
  // The files are mounted one by one, so a running sandbox keeps what it was given; the next one sees what is new.
  BEIGE_TRY(WriteIfDifferent(etc + "/passwd", "root:x:0:0:root:/root:/bin/sh\nagent:x:" + std::to_string(uid) + ":" + std::to_string(gid) +
                                                  ":agent:/workspace:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"));
  return WriteIfDifferent(etc + "/group", "root:x:0:\nagent:x:" + std::to_string(gid) + ":\nnogroup:x:65534:\n");
}

}  // namespace beige
