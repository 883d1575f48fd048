#ifndef BEIGE_CLI_SUPERVISE_SERVICES_H_
#define BEIGE_CLI_SUPERVISE_SERVICES_H_

#include <string>
#include <vector>

#include "api/paths.h"
#include "cli/supervise/supervisor.h"

namespace beige::cli {

// How far the gateway is kept from the engine.
struct PrivilegeSplit {
  std::string kind;    // namespace | none
  std::string reason;  // why none
};

// Tries the view for real; `none` with the reason where this machine can't make it.
PrivilegeSplit ProbePrivilegeSplit(const HomePaths& paths);

// beige-gateway (in its view when split.kind is namespace) and beige-operator, in the order in which they are started.
std::vector<Service> ServicesOf(const HomePaths& paths, const PrivilegeSplit& split);
inline constexpr size_t kGatewayIndex = 0;
inline constexpr size_t kOperatorIndex = 1;

// True once the process with that pid has said that it serves: its info file names the pid and, of the gateway, run/cli.sock accepts.
bool GatewayAnswers(const HomePaths& paths, pid_t pid);
bool OperatorAnswers(const HomePaths& paths, pid_t pid);

// The last error in a process's log, a plain `beige: ` line or a JSON one: why it did not come up. "" when there is none.
std::string LastLogWord(const std::string& log);

}  // namespace beige::cli

#endif
