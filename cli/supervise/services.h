#ifndef BEIGE_CLI_SUPERVISE_SERVICES_H_
#define BEIGE_CLI_SUPERVISE_SERVICES_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/paths.h"
#include "cli/supervise/gateway_view.h"
#include "cli/supervise/supervisor.h"

namespace beige::cli {

// How far the gateway is kept from the engine.
struct PrivilegeSplit {
  std::string kind;    // namespace | none
  std::string reason;  // why none; of namespace: why the gateway stays root in it
};

// Tries the view for real; `none` with the reason where this machine can't make it.
PrivilegeSplit ProbePrivilegeSplit(const HomePaths& paths);

// The view with which the gateway was last started; empty before that and without a view.
using ViewInForce = std::shared_ptr<std::optional<GatewayView>>;

// beige-gateway (in its view when split.kind is namespace) and beige-operator, in the order in which they are started.
std::vector<Service> ServicesOf(const HomePaths& paths, const PrivilegeSplit& split, const ViewInForce& view);

// The directory of an engine's socket that the running gateway still sees: a new socket in operator.yaml, an engine that was started
// after the gateway, or a directory that was removed and made again (the mask went with it). "" when there is none.
std::string UnmaskedEngine(const HomePaths& paths, const ViewInForce& view);

inline constexpr size_t kGatewayIndex = 0;
inline constexpr size_t kOperatorIndex = 1;

// True once the process with that pid has said that it serves: its info file names the pid and, of the gateway, run/cli.sock accepts.
bool GatewayAnswers(const HomePaths& paths, pid_t pid);
bool OperatorAnswers(const HomePaths& paths, pid_t pid);

// The last error in a process's log, a plain `beige: ` line or a JSON one: why it did not come up. "" when there is none.
std::string LastLogWord(const std::string& log);

}  // namespace beige::cli

#endif
