#ifndef BEIGE_GATEWAY_AUDIT_BUDGET_H_
#define BEIGE_GATEWAY_AUDIT_BUDGET_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/agent_ref.h"
#include "base/clock.h"

namespace beige::audit {

// Bytes of records per agent and day (UTC), so that one agent's spam stops that agent and not the log. Pure bookkeeping.
class Budget {
 public:
  struct Summary {
    AgentRef agent;
    int64_t refused = 0;
  };

  void SetLimit(int64_t bytes_per_day) { limit_ = bytes_per_day; }
  void Preload(int64_t day, const std::string& uid, int64_t bytes) { agents_[uid] = {day, bytes, {}, {}, {}, 0}; }
  static int64_t DayOf(SystemTime now);

  // False when the agent has used up its day; the refusal is counted for the next summary.
  bool Admit(const AgentRef& agent, SystemTime now);
  // Of a note that the agent causes: beyond the budget one an hour. How many were not admitted since the last that was; nullopt: nor is this.
  std::optional<int64_t> AdmitNote(const std::string& uid, SystemTime now);
  void Count(const std::string& uid, int64_t bytes, SystemTime now);
  // Refusals that are due to be told: at most once a second per agent.
  bool HasRefusals() const { return refusing_ > 0; }
  void TakeSummaries(SystemTime now, bool all, const std::function<void(const Summary&)>& each);

 private:
  struct Use {
    int64_t day = 0;
    int64_t bytes = 0;
    Summary summary;
    SystemTime told{};
    SystemTime noted{};       // the last note beyond the budget
    int64_t unsaid_notes = 0;
  };
  Use& Today(const std::string& uid, SystemTime now);

  int64_t limit_ = 0;
  int64_t refusing_ = 0;  // agents with untold refusals
  std::unordered_map<std::string, Use> agents_;
};

}  // namespace beige::audit

#endif
