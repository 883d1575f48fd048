#ifndef BEIGE_CLI_SUPERVISE_SEALED_EXEC_H_
#define BEIGE_CLI_SUPERVISE_SEALED_EXEC_H_

#include <string>
#include <vector>

namespace beige::cli {

// `beige internal sealed PROGRAM ARGS...`, run by bubblewrap in the view of a gateway that is root: makes the device nodes read-only, which
// bubblewrap can't (it would forbid their use as well), gives up the capabilities that this takes, and becomes PROGRAM. Without it that
// gateway, and each of its cells, owns the host's /dev/null and could change its mode for everybody. Returns an exit status only when
// PROGRAM can't be started.
int ExecSealed(const std::vector<std::string>& argv);

// What ExecSealed needs beyond what the gateway keeps, and what comes before the program.
inline constexpr const char* kSealCapabilities[] = {"CAP_SYS_ADMIN", "CAP_SETPCAP"};
std::vector<std::string> SealedCommand();

}  // namespace beige::cli

#endif
