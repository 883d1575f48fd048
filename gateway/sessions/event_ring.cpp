#include "gateway/sessions/event_ring.h"

#include <algorithm>
#include <charconv>

namespace beige::sessions {
namespace {
constexpr size_t kOverhead = 180;  // of an entry and its place, about
constexpr std::string_view kTextBefore = R"({"text":")";
constexpr std::string_view kTextBehind = R"("})";

// A piece of what the model says: {"text":"..."} and nothing else.
bool IsPiece(const Event& event) {
  return (event.name == "text" || event.name == "thinking") && event.data.starts_with(kTextBefore) && event.data.size() >= kTextBefore.size() + kTextBehind.size();
}

std::string_view PieceOf(const Event& event) {
  return std::string_view(event.data).substr(kTextBefore.size(), event.data.size() - kTextBefore.size() - kTextBehind.size());
}

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

size_t EventRing::Cost(const Kept& kept) { return kOverhead + kept.data.capacity() + kept.piece_ends.capacity() * sizeof(uint32_t); }

bool EventRing::Extend(EventId id, const Event& event) {
  if (events_.empty()) return false;
  Kept& run = events_.back();
  if (run.piece_ends.empty() || run.name != event.name || run.prompt != event.prompt || run.last.turn != id.turn || run.last.number + 1 != id.number) return false;
  const std::string_view piece = PieceOf(event);
  if (run.data.size() + piece.size() > kMaxRun) return false;
  run.data += piece;
  run.piece_ends.push_back(static_cast<uint32_t>(run.data.size()));
  run.last = id;
  return true;
}

void EventRing::Add(EventId id, const Event& event) {
  const bool piece = IsPiece(event);
  if (!events_.empty()) bytes_ -= Cost(events_.back());
  if (!piece || !Extend(id, event)) {
    if (!events_.empty()) {
      events_.back().data.shrink_to_fit();
      events_.back().piece_ends.shrink_to_fit();
      bytes_ += Cost(events_.back());
    }
    Kept kept{id, event.name, event.prompt, event.ends, piece ? std::string(PieceOf(event)) : event.data, {}};
    if (piece) kept.piece_ends.push_back(static_cast<uint32_t>(kept.data.size()));
    events_.push_back(std::move(kept));
  }
  bytes_ += Cost(events_.back());
  while (bytes_ > kMaxBytes && events_.size() > 1) {
    bytes_ -= Cost(events_.front());
    dropped_ = events_.front().last;
    events_.pop_front();
  }
}

std::optional<std::vector<Event>> EventRing::After(EventId after) const {
  if (after < dropped_) return std::nullopt;
  std::vector<Event> out;
  for (const Kept& kept : events_) {
    if (kept.last <= after) continue;
    Event event{kept.last.ToString(), kept.name, kept.data, kept.prompt, kept.ends};
    if (!kept.piece_ends.empty()) {
      const int64_t behind = kept.last.turn == after.turn ? kept.last.number - after.number : static_cast<int64_t>(kept.piece_ends.size());
      const size_t wanted = std::min(static_cast<size_t>(behind), kept.piece_ends.size());
      const size_t from = wanted == kept.piece_ends.size() ? 0 : kept.piece_ends[kept.piece_ends.size() - wanted - 1];
      event.data = std::string(kTextBefore).append(kept.data, from).append(kTextBehind);
    }
    out.push_back(std::move(event));
  }
  return out;
}

}  // namespace beige::sessions
