#ifndef BEIGE_GATEWAY_SESSIONS_EVENT_RING_H_
#define BEIGE_GATEWAY_SESSIONS_EVENT_RING_H_

#include <compare>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/sessions/sessions.h"

namespace beige::sessions {

// "TURN-N".
struct EventId {
  int64_t turn = 0;
  int64_t number = 0;
  auto operator<=>(const EventId&) const = default;
  std::string ToString() const { return std::to_string(turn) + "-" + std::to_string(number); }
};
std::optional<EventId> ParseEventId(std::string_view text);

// The last events of a session, for those who come back: as many as fit into a bound.
class EventRing {
 public:
  static constexpr size_t kMaxBytes = 40u << 10;

  // `behind`: nothing up to there is known here (a session that was read from its file).
  explicit EventRing(EventId behind) : dropped_(behind) {}

  void Add(EventId id, EventPtr event);
  // What comes after `after`; nothing when some of that is gone.
  std::optional<std::vector<EventPtr>> After(EventId after) const;
  EventId dropped() const { return dropped_; }  // this one and all before it are gone

 private:
  struct Kept {
    EventId id;
    EventPtr event;
  };
  EventId dropped_;
  std::deque<Kept> events_;
  size_t bytes_ = 0;
};

}  // namespace beige::sessions

#endif
