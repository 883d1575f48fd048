#ifndef BEIGE_API_CONDITION_H_
#define BEIGE_API_CONDITION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace beige {

enum class Truth { kUnknown, kFalse, kTrue };

struct Condition {
  std::string type;
  Truth status = Truth::kUnknown;
  std::string reason;                // CamelCase word a person can search for
  std::string message;
  std::string last_transition_time;  // RFC 3339; changes only when status changes
  int64_t observed_generation = 0;
  bool operator==(const Condition&) const = default;
};

// All types, in the order in which they are listed; each is present from the first pass (Unknown).
inline constexpr std::string_view kConditionTypes[] = {"Accepted",          "ImageReady",     "SandboxRunning", "ControlConnected", "PolicyInForce",
                                                       "IsolationVerified", "EgressEnforced", "UpToDate",       "Suspended",        "Ready"};

const Condition* FindCondition(const std::vector<Condition>& conditions, std::string_view type);

}  // namespace beige

#endif
