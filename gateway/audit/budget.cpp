#include "gateway/audit/budget.h"

namespace beige::audit {

int64_t Budget::DayOf(SystemTime now) {
  return std::chrono::duration_cast<std::chrono::hours>(now.time_since_epoch()).count() / 24;
}

bool Budget::Admit(const AgentRef& agent, SystemTime now) {
  if (limit_ <= 0) return true;
  Use& use = agents_[agent.uid];
  if (const int64_t day = DayOf(now); use.day != day) {
    use.day = day;
    use.bytes = 0;
  }
  if (use.bytes < limit_) return true;
  if (use.summary.refused++ == 0) {
    ++refusing_;
    use.summary.agent = agent;
  }
  return false;
}

void Budget::Count(const std::string& uid, int64_t bytes, SystemTime now) {
  if (limit_ <= 0) return;
  Use& use = agents_[uid];
  if (const int64_t day = DayOf(now); use.day != day) {
    use.day = day;
    use.bytes = 0;
  }
  use.bytes += bytes;
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
