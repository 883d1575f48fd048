#ifndef BEIGE_CLI_WAIT_H_
#define BEIGE_CLI_WAIT_H_

#include <chrono>
#include <optional>
#include <string>

#include "api/condition.h"
#include "cli/globals.h"
#include "cli/home_agents.h"

namespace beige::cli {

// What --for asks: `delete`, `condition=Ready` or `condition=UpToDate=False`.
struct WaitGoal {
  bool deletion = false;
  std::string condition;
  Truth status = Truth::kTrue;
  bool operator==(const WaitGoal&) const = default;
};
Result<WaitGoal> ParseWaitGoal(const std::string& text);

struct WaitState {
  bool met = false;
  std::string why;  // not met: the latest reason, for the message at the end
};
// Pure. A status that speaks of an older spec than the file's counts for nothing.
WaitState Judge(const WaitGoal& goal, const std::optional<AgentView>& view);

struct WaitOptions {
  std::vector<std::string> names;
  std::string goal = "condition=Ready";
  std::string timeout = "60s";
};
// `beige wait agent NAME`: driven by changes of the status files; 124 with the latest reason when the time is over.
int RunWait(const Globals& globals, const WaitOptions& options);

// For commands that need the agent: kDone when it is Ready; else `command` has said why, as `beige wait` does, and the exit status is given.
int AwaitReady(const Globals& globals, const std::string& command, const std::string& name, const std::string& timeout);

}  // namespace beige::cli

#endif
