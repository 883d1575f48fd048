#include "cli/supervise/mapped_exec.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/files.h"
#include "cli/report.h"
#include "cli/supervise/gateway_view.h"

namespace beige::cli {
namespace {
namespace fs = std::filesystem;

// A user namespace with these maps, of which nobody is a member.
Result<UniqueFd> NamespaceOf(const std::vector<IdMap>& ids) {
  // Not fork: that would share our user namespace. This process has one thread and next to no memory.
  const long child = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (child < 0) return FailErrno(errno, "make a user namespace");
  if (child == 0) {
    for (;;) ::pause();
  }
  const auto pid = static_cast<pid_t>(child);
  Result<> written = WriteIdMaps(pid, ids, ids);
  UniqueFd fd(::open(("/proc/" + std::to_string(pid) + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
  const int err = errno;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  if (!written) return tl::make_unexpected(written.error());
  if (!fd) return FailErrno(err, "open a user namespace");
  return fd;
}

Result<UniqueFd> MappedCopy(const std::string& path, int user_namespace) {
  UniqueFd copy(static_cast<int>(::syscall(SYS_open_tree, AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)));
  if (!copy) return FailErrno(errno, "open_tree " + path);
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_IDMAP;
  attributes.userns_fd = static_cast<uint64_t>(user_namespace);
  if (::syscall(SYS_mount_setattr, copy.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes) != 0) {
    return FailErrno(errno, "the file system of " + path + ", or one mounted in it, gives no other ids to its files (idmapped mount)");
  }
  return copy;
}

Result<> Remount(const GatewayUser& user) {
  BEIGE_ASSIGN(const UniqueFd user_namespace, NamespaceOf(user.ids));
  if (::unshare(CLONE_NEWNS) != 0) return FailErrno(errno, "make a mount namespace");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return FailErrno(errno, "keep mounts from the host");
  std::vector<UniqueFd> copies;  // all before the first cover
  std::vector<std::string> covers;
  for (const auto& path : user.mapped) {
    BEIGE_ASSIGN(UniqueFd copy, MappedCopy(path, user_namespace.get()));
    copies.push_back(std::move(copy));
    std::string closed = ClosedAbove(path);
    if (!closed.empty() && std::find(covers.begin(), covers.end(), closed) == covers.end()) covers.push_back(std::move(closed));
  }
  for (const auto& cover : covers) {
    if (::mount("tmpfs", cover.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m") != 0) return FailErrno(errno, "cover " + cover);
  }
  for (size_t i = 0; i < copies.size(); ++i) {
    BEIGE_TRY(MakeDirs(user.mapped[i], 0755));
    if (::syscall(SYS_move_mount, copies[i].get(), "", AT_FDCWD, user.mapped[i].c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0) {
      return FailErrno(errno, "mount " + user.mapped[i]);
    }
  }
  return {};
}

Result<> Become(uint32_t uid) {
  if (::setgroups(0, nullptr) != 0 || ::setresgid(uid, uid, uid) != 0 || ::setresuid(uid, uid, uid) != 0) return FailErrno(errno, "become uid " + std::to_string(uid));
  return {};
}
}  // namespace

std::string ClosedAbove(const std::string& path) {
  fs::path walked("/");
  for (const fs::path& part : fs::path(path).parent_path().relative_path()) {
    walked /= part;
    struct stat info {};
    if (::stat(walked.c_str(), &info) != 0 || (info.st_mode & 0001) == 0) return walked.string();
  }
  return "";
}

int ExecMapped(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  GatewayUser user;
  auto at = arguments.begin();
  const auto number = [&] { return at == end ? 0u : static_cast<uint32_t>(std::strtoul((at++)->c_str(), nullptr, 10)); };
  for (uint32_t left = number(); left > 0; --left) {
    IdMap map;
    map.inside = number();
    map.outside = number();
    map.count = number();
    user.ids.push_back(map);
  }
  user.mapped.assign(at, end);
  if (user.ids.empty() || user.ids[0].outside == 0 || end == arguments.end() || end + 1 == arguments.end()) return Report("internal", kUsage, "mapped: only the supervisor calls this");
  // What was the directory before the mounts is the one without ids.
  if (::chdir("/") != 0) return Report("internal", kFailed, std::string("chdir /: ") + std::strerror(errno));
  if (auto done = Remount(user); !done) return Report("internal", done.error());
  if (auto done = Become(user.ids[0].outside); !done) return Report("internal", done.error());
  std::vector<char*> pointers;
  for (auto word = end + 1; word != arguments.end(); ++word) pointers.push_back(const_cast<char*>(word->c_str()));
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
  return Report("internal", kFailed, std::string("start ") + pointers[0] + ": " + std::strerror(errno));
}

std::vector<std::string> MappedCommand(const GatewayUser& user) {
  std::vector<std::string> command = {ExecutableDir() + "/beige", "internal", "mapped", std::to_string(user.ids.size())};
  for (const IdMap& map : user.ids) {
    for (const uint32_t number : {map.inside, map.outside, map.count}) command.push_back(std::to_string(number));
  }
  command.insert(command.end(), user.mapped.begin(), user.mapped.end());
  command.push_back("--");
  return command;
}

}  // namespace beige::cli
