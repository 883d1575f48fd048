#ifndef BEIGE_BASE_SPAWN_H_
#define BEIGE_BASE_SPAWN_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace beige {

struct SpawnRequest {
  std::vector<std::string> argv;         // argv[0] is looked up on PATH unless it has a slash
  std::vector<std::string> environment;  // KEY=VALUE, complete
  std::vector<std::pair<int, int>> fds;  // (ours, theirs); what is not named is closed; 0-2 not named are /dev/null
  bool new_session = false;
};

// posix_spawn (never fork: a large heap makes it slow). The child's signal mask is empty and its dispositions are the defaults.
Result<pid_t> Spawn(const SpawnRequest& request);

// pidfd of a child: readable when it has ended. CLOEXEC.
Result<UniqueFd> OpenPidFd(pid_t pid);

// The running process's environment as KEY=VALUE.
std::vector<std::string> CurrentEnvironment();

// prctl(PR_SET_DUMPABLE, 0) and RLIMIT_CORE 0: no core file, no ptrace by peers of the same uid.
Result<> BecomeNonDumpable();

}  // namespace beige

#endif
