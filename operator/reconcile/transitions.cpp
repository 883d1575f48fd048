#include "operator/reconcile/transitions.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace beige {
namespace {
// Reasons that are trouble. The others are steps on the way.
constexpr std::array<std::string_view, 22> kTrouble = {
    "InvalidSpec",   "UnknownField",     "NotPermitted",      "ToolUnknown",   "ModelUnknown",   "ToolUnavailable", "ImagePullFailed", "ImageMissing",
    "NameConflict",  "EngineUnavailable", "CrashLoopBackOff", "OOMKilled",     "IsolationMismatch", "PrepareFailed", "CreateFailed",
    "StartFailed",   "GrantRejected",    "TemplateOutdated",  "HomeCopied",    "RoundTripFailed", "Removed",         "Error"};
}  // namespace

std::vector<EventText> EventsOf(const std::vector<Condition>& before, const std::vector<Condition>& after) {
  std::vector<EventText> events;
  for (const Condition& now : after) {
    const Condition* was = FindCondition(before, now.type);
    if (was && was->status == now.status && was->reason == now.reason && (now.type != "Accepted" || was->message == now.message)) continue;
    if (std::find(kTrouble.begin(), kTrouble.end(), now.reason) != kTrouble.end()) {
      // Ready repeats the reason of another condition; it is said once.
      if (now.type != "Ready" || now.reason == "RoundTripFailed") events.push_back({EventType::kWarning, now.reason, now.message});
    } else if (now.type == "Accepted" && now.status == Truth::kTrue && !now.message.empty()) {
      events.push_back({EventType::kWarning, "DuplicateAgent", now.message});
    } else if (now.type == "Ready" && now.status == Truth::kTrue) {
      events.push_back({EventType::kNormal, "Ready", "the round trip through the agent's socket came back"});
    } else if (now.type == "Suspended" && now.status == Truth::kTrue) {
      events.push_back({EventType::kNormal, "Suspended", "the sandbox is removed, the workspace is kept"});
    }
  }
  return events;
}

}  // namespace beige
