#include "base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

extern char** environ;

namespace beige {
namespace {
struct Actions {
  Actions() { posix_spawn_file_actions_init(&value); }
  ~Actions() { posix_spawn_file_actions_destroy(&value); }
  posix_spawn_file_actions_t value;
};
struct Attributes {
  Attributes() { posix_spawnattr_init(&value); }
  ~Attributes() { posix_spawnattr_destroy(&value); }
  posix_spawnattr_t value;
};

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const auto& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}
}  // namespace

Result<pid_t> Spawn(const SpawnRequest& request) {
  if (request.argv.empty()) return Fail(Code::kInvalid, "spawn: empty command");
  Actions actions;
  // Sources are first moved above every target, so that one mapping can't overwrite another's source.
  int top = 2;
  for (const auto& [ours, theirs] : request.fds) top = std::max({top, ours, theirs});
  std::vector<UniqueFd> moved;
  for (const auto& [ours, theirs] : request.fds) {
    UniqueFd copy(::fcntl(ours, F_DUPFD_CLOEXEC, top + 1));
    if (!copy) return FailErrno(errno, "spawn " + request.argv[0]);
    posix_spawn_file_actions_adddup2(&actions.value, copy.get(), theirs);
    moved.push_back(std::move(copy));
  }
  for (int fd = 0; fd <= 2; ++fd) {
    const bool named = std::any_of(request.fds.begin(), request.fds.end(), [&](const auto& pair) { return pair.second == fd; });
    if (!named) posix_spawn_file_actions_addopen(&actions.value, fd, "/dev/null", O_RDWR, 0);
  }
  // What our own parent left open without CLOEXEC must not reach the child either.
  int highest = 2;
  for (const auto& [ours, theirs] : request.fds) highest = std::max(highest, theirs);
  for (int fd = 3; fd < highest; ++fd) {
    const bool named = std::any_of(request.fds.begin(), request.fds.end(), [&](const auto& pair) { return pair.second == fd; });
    if (!named) posix_spawn_file_actions_addclose(&actions.value, fd);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions.value, highest + 1);
  Attributes attributes;
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes.value, &none);
  posix_spawnattr_setsigdefault(&attributes.value, &all);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (request.new_session) flags = static_cast<short>(flags | POSIX_SPAWN_SETSID);
  posix_spawnattr_setflags(&attributes.value, flags);

  const auto argv = Pointers(request.argv);
  const auto environment = Pointers(request.environment);
  pid_t pid = 0;
  const int err = posix_spawnp(&pid, argv[0], &actions.value, &attributes.value, argv.data(), environment.data());
  if (err != 0) return FailErrno(err, "start " + request.argv[0]);
  return pid;
}

Result<UniqueFd> OpenPidFd(pid_t pid) {
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd) return FailErrno(errno, "pidfd_open " + std::to_string(pid));
  ::fcntl(fd.get(), F_SETFD, FD_CLOEXEC);
  return fd;
}

std::vector<std::string> CurrentEnvironment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

Result<> BecomeNonDumpable() {
  const rlimit none{0, 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0) return FailErrno(errno, "setrlimit core");
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) return FailErrno(errno, "prctl PR_SET_DUMPABLE");
  return {};
}

}  // namespace beige
