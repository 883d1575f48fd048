#ifndef BEIGE_CLI_SUPERVISE_VIEW_CHECK_H_
#define BEIGE_CLI_SUPERVISE_VIEW_CHECK_H_

#include <string>
#include <vector>

#include "api/load.h"
#include "api/paths.h"
#include "base/result.h"
#include "cli/supervise/gateway_view.h"

namespace beige::cli {

// Run inside the view (`beige internal check-view`): every way to an engine and to what the operator obeys must be closed, the
// gateway's own directories must be open. Each string names one that is not so.
std::vector<std::string> CheckView(const HomePaths& paths, const EnvLookup& env);

// Exit status of the check when something is open that must be closed.
inline constexpr int kViewLeaks = 44;

// Starts the check above in the view. Unavailable when bubblewrap can't make it, Denied when it leaks; the text says what.
Result<> ProveView(const HomePaths& paths, const GatewayView& view);

}  // namespace beige::cli

#endif
