#ifndef BEIGE_CLI_SUPERVISE_BOUND_EXEC_H_
#define BEIGE_CLI_SUPERVISE_BOUND_EXEC_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace beige::cli {

// `beige internal bound PARENT PROGRAM ARGS...`: becomes PROGRAM, which gets SIGTERM when PARENT (the supervisor) ends, even by SIGKILL.
// Returns an exit status only when that fails.
int ExecBound(pid_t parent, const std::vector<std::string>& argv);

// The command line that does so for `argv`.
std::vector<std::string> BoundCommand(const std::vector<std::string>& argv);

}  // namespace beige::cli

#endif
