#include "gateway/sessions/event_ring.h"

#include <charconv>

namespace beige::sessions {
namespace {
constexpr size_t kOverhead = 160;  // of an event and its place, about

bool ReadNumber(std::string_view text, int64_t& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc() && end == text.data() + text.size() && into >= 0;
}
}  // namespace

std::optional<EventId> ParseEventId(std::string_view text) {
  const size_t dash = text.find('-');
  EventId id;
  if (dash == std::string_view::npos || !ReadNumber(text.substr(0, dash), id.turn) || !ReadNumber(text.substr(dash + 1), id.number)) return std::nullopt;
  return id;
}

void EventRing::Add(EventId id, EventPtr event) {
  bytes_ += kOverhead + event->data.size();
  events_.push_back({id, std::move(event)});
  while (bytes_ > kMaxBytes && events_.size() > 1) {
    bytes_ -= kOverhead + events_.front().event->data.size();
    dropped_ = events_.front().id;
    events_.pop_front();
  }
}

std::optional<std::vector<EventPtr>> EventRing::After(EventId after) const {
  if (after < dropped_) return std::nullopt;
  std::vector<EventPtr> out;
  for (const Kept& kept : events_) {
    if (kept.id > after) out.push_back(kept.event);
  }
  return out;
}

}  // namespace beige::sessions
