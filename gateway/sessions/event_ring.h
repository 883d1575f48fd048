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

// The last events of a session, for those who come back: as many as fit into a bound. Pieces of text that follow one another are kept as
// one run, so an event of a token costs its token and four bytes; who comes back is told the rest of a run as one event.
class EventRing {
 public:
  static constexpr size_t kMaxBytes = 24u << 10;
  static constexpr size_t kMaxRun = 2u << 10;

  // `behind`: nothing up to there is known here (a session that was read from its file).
  explicit EventRing(EventId behind) : dropped_(behind) {}

  void Add(EventId id, const Event& event);
  // What comes after `after`; nothing when some of that is gone.
  std::optional<std::vector<Event>> After(EventId after) const;
  EventId dropped() const { return dropped_; }  // this one and all before it are gone

 private:
  struct Kept {
    EventId last;
    std::string_view name;
    std::string prompt;
    bool ends = false;
    std::string data;                // of a run: what stands between the quotes of its pieces' JSON
    std::vector<uint32_t> piece_ends;  // in `data`; empty = one event
  };
  bool Extend(EventId id, const Event& event);
  static size_t Cost(const Kept& kept);

  EventId dropped_;
  std::deque<Kept> events_;
  size_t bytes_ = 0;
};

}  // namespace beige::sessions

#endif
