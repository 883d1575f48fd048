#include "cli/wait.h"

#include <algorithm>
#include <cctype>

#include "api/agent_names.h"
#include "base/clock.h"
#include "cli/processes.h"
#include "cli/report.h"
#include "cli/watch.h"

namespace beige::cli {
namespace {
std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string ConditionNames() {
  std::string names;
  for (const auto type : kConditionTypes) names += (names.empty() ? "" : ", ") + std::string(type);
  return names;
}

std::string GoalText(const WaitGoal& goal) {
  if (goal.deletion) return "deleted";
  return goal.condition + (goal.status == Truth::kTrue ? "" : "=" + std::string(WordOf(kTruths, goal.status)));
}

int WaitForOne(const Globals& globals, const std::string& command, const WaitGoal& goal, const std::string& name, SteadyTime deadline, const std::string& limit) {
  const HomePaths paths = globals.paths();
  const AgentKey key = globals.Key(name);
  Watch watch;
  bool seen = false;
  WaitState state;
  for (;;) {
    WatchAgents(watch, paths);
    const auto view = ReadAgent(paths, key);
    if (!view && !goal.deletion && !seen) {
      return Report(command, kNotFound, AgentTitle(key) + ": no such agent; 'beige get agents -A' lists them, 'beige apply -f FILE' adds one");
    }
    seen = true;
    state = Judge(goal, view);
    if (state.met) break;
    if (!watch.Wait(deadline) && std::chrono::steady_clock::now() >= deadline) {
      const auto info = ReadOperatorInfo(paths);
      const bool running = info && IsRunning(info->pid, kOperatorProcess);
      return Report(command, kTimedOut, AgentTitle(key) + " is not " + GoalText(goal) + " after " + limit + ": " + state.why + "; " +
                                           (running ? "see 'beige describe agent " + name + "'" : "the operator is not running, start it with 'beige up'"));
    }
  }
  return kDone;
}
}  // namespace

Result<WaitGoal> ParseWaitGoal(const std::string& text) {
  const auto wrong = [&](const std::string& want) { return Fail(Code::kInvalid, "--for: want " + want + ", got \"" + text + "\""); };
  if (Lower(text) == "delete") return WaitGoal{true, "", Truth::kTrue};
  if (!text.starts_with("condition=")) return wrong("delete, condition=NAME or condition=NAME=False");
  WaitGoal goal;
  std::string rest = text.substr(10);
  if (const size_t equals = rest.find('='); equals != std::string::npos) {
    const std::string value = Lower(rest.substr(equals + 1));
    rest.resize(equals);
    bool known = false;
    for (const auto& entry : kTruths) {
      if (Lower(std::string(entry.word)) != value) continue;
      goal.status = entry.value;
      known = true;
    }
    if (!known) return wrong("True, False or Unknown after " + rest + "=");
  }
  for (const auto type : kConditionTypes) {
    if (Lower(std::string(type)) == Lower(rest)) goal.condition = type;
  }
  if (goal.condition.empty()) return wrong("one of the conditions " + ConditionNames());
  return goal;
}

WaitState Judge(const WaitGoal& goal, const std::optional<AgentView>& view) {
  if (goal.deletion) {
    if (!view) return {true, ""};
    return {false, view->definition ? "it is still defined in " + view->definition->file : "the operator has not removed it yet"};
  }
  if (!view) return {false, "the agent is gone"};
  const Summary summary = SummaryOf(*view);
  const std::string why = summary.reason + (summary.message.empty() ? "" : ": " + summary.message);
  if (!view->observed) return {false, view->has_status ? "the operator has not taken up its latest version yet (" + why + ")" : why};
  const Condition* condition = FindCondition(view->agent.status.conditions, goal.condition);
  if (condition == nullptr) return {false, why};
  if (condition->status == goal.status) return {true, ""};
  std::string text = goal.condition + " is " + std::string(WordOf(kTruths, condition->status)) + ", " + condition->reason;
  if (!condition->message.empty()) text += ": " + condition->message;
  return {false, text};
}

int RunWait(const Globals& globals, const WaitOptions& options) {
  const auto goal = ParseWaitGoal(options.goal);
  if (!goal) return Report("wait", goal.error());
  const auto timeout = ParseDuration(options.timeout);
  if (!timeout) return Report("wait", kUsage, "--timeout: want a duration such as 60s, got \"" + options.timeout + "\"");
  const auto deadline = std::chrono::steady_clock::now() + *timeout;
  for (const auto& name : options.names) {
    if (const int status = WaitForOne(globals, "wait", *goal, name, deadline, options.timeout); status != kDone) return status;
    PrintLine(AgentTitle(globals.Key(name)) + (goal->deletion ? " deleted" : " condition met"));
  }
  return kDone;
}

int AwaitReady(const Globals& globals, const std::string& command, const std::string& name, const std::string& timeout) {
  const auto limit = ParseDuration(timeout);
  if (!limit) return Report(command, kUsage, "--timeout: want a duration such as 60s, got \"" + timeout + "\"");
  return WaitForOne(globals, command, WaitGoal{false, "Ready", Truth::kTrue}, name, std::chrono::steady_clock::now() + *limit, timeout);
}

}  // namespace beige::cli
