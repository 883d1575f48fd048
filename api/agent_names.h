#ifndef BEIGE_API_AGENT_NAMES_H_
#define BEIGE_API_AGENT_NAMES_H_

#include <optional>
#include <string_view>
#include <utility>

#include "api/agent.h"

// The words that stand for enum values in documents; used by the JSON codec and by the loader, so that they can't drift apart.
namespace beige {

template <typename E>
struct EnumWord {
  E value;
  std::string_view word;
};

inline constexpr EnumWord<OperatingMode> kOperatingModes[] = {{OperatingMode::kRunning, "Running"}, {OperatingMode::kSuspended, "Suspended"}};
inline constexpr EnumWord<PullPolicy> kPullPolicies[] = {
    {PullPolicy::kIfNotPresent, "IfNotPresent"}, {PullPolicy::kAlways, "Always"}, {PullPolicy::kNever, "Never"}};
inline constexpr std::string_view kThinkingLevels[] = {"off", "minimal", "low", "medium", "high"};
inline constexpr EnumWord<EgressMode> kEgressModes[] = {{EgressMode::kNone, "none"}, {EgressMode::kOpen, "open"}};
inline constexpr EnumWord<RetentionPolicy> kRetentionPolicies[] = {{RetentionPolicy::kRetain, "Retain"}, {RetentionPolicy::kDelete, "Delete"}};
inline constexpr EnumWord<Truth> kTruths[] = {{Truth::kUnknown, "Unknown"}, {Truth::kFalse, "False"}, {Truth::kTrue, "True"}};

template <typename E, size_t N>
constexpr std::string_view WordOf(const EnumWord<E> (&words)[N], E value) {
  for (const auto& entry : words) {
    if (entry.value == value) return entry.word;
  }
  return "";
}

template <typename E, size_t N>
constexpr std::optional<E> ValueOf(const EnumWord<E> (&words)[N], std::string_view word) {
  for (const auto& entry : words) {
    if (entry.word == word) return entry.value;
  }
  return std::nullopt;
}

}  // namespace beige

#endif
