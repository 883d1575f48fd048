#include "gateway/audit/budget.h"

#include <utility>

namespace beige::audit {
namespace {
constexpr std::chrono::hours kNoteEvery{1};
}  // namespace

Budget::Use& Budget::Today(const std::string& uid, SystemTime now) {
  Use& use = agents_[uid];
  if (const int64_t day = DayOf(now); use.day != day) {
    use.day = day;
    use.bytes = 0;
  }
  return use;
}

int64_t Budget::DayOf(SystemTime now) {
  return std::chrono::duration_cast<std::chrono::hours>(now.time_since_epoch()).count() / 24;
}

bool Budget::Admit(const AgentRef& agent, SystemTime now) {
  if (limit_ <= 0) return true;
  Use& use = Today(agent.uid, now);
  if (use.bytes < limit_) return true;
  if (use.summary.refused++ == 0) {
    ++refusing_;
    use.summary.agent = agent;
  }
  return false;
}

void Budget::Count(const std::string& uid, int64_t bytes, SystemTime now) {
  if (limit_ <= 0) return;
  Today(uid, now).bytes += bytes;
}

std::optional<int64_t> Budget::AdmitNote(const std::string& uid, SystemTime now) {
  if (limit_ <= 0) return 0;
  Use& use = Today(uid, now);
  if (use.bytes >= limit_) {
    if (use.noted != SystemTime() && now - use.noted < kNoteEvery) {
      ++use.unsaid_notes;
      return std::nullopt;
    }
    use.noted = now;
  }
  return std::exchange(use.unsaid_notes, 0);
}

void Budget::TakeSummaries(SystemTime now, bool all, const std::function<void(const Summary&)>& each) {
  for (auto& [uid, use] : agents_) {
    if (use.summary.refused == 0 || (!all && now - use.told < std::chrono::seconds(1))) continue;
    each(use.summary);
    use.summary.refused = 0;
    use.told = now;
    --refusing_;
  }
}

}  // namespace beige::audit
