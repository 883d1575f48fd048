#ifndef BEIGE_OPERATOR_RECONCILE_TRANSITIONS_H_
#define BEIGE_OPERATOR_RECONCILE_TRANSITIONS_H_

#include <string>
#include <vector>

#include "api/condition.h"
#include "operator/store/event_log.h"

namespace beige {

struct EventText {
  EventType type = EventType::kNormal;
  std::string reason;
  std::string message;
  bool operator==(const EventText&) const = default;
};

// What a person should hear of a change of conditions: trouble that began, and Ready and Suspended when they come. Pure.
std::vector<EventText> EventsOf(const std::vector<Condition>& before, const std::vector<Condition>& after);

}  // namespace beige

#endif
