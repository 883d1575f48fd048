#include "operator/source/removal_hold.h"

#include <vector>

namespace beige {

std::optional<SteadyTime> RemovalHold::Apply(Snapshot& next, const Snapshot& last, SteadyTime now) {
  std::vector<AgentKey> removed;
  for (const auto& [key, agent] : last.agents) {
    if (!next.agents.contains(key)) removed.push_back(key);
  }
  if (removed.size() <= 3 || removed.size() * 2 <= last.agents.size()) {
    since_.reset();
    return std::nullopt;
  }
  if (!since_) since_ = now;
  if (now >= *since_ + kHold) {
    since_.reset();
    return std::nullopt;
  }
  next.notice = std::to_string(removed.size()) + " of " + std::to_string(last.agents.size()) +
                " agents are no longer in the files; their removal is held for 60 s in case this is a mistake; put the files back to keep them";
  for (const AgentKey& key : removed) next.agents.emplace(key, last.agents.at(key));
  return *since_ + kHold;
}

}  // namespace beige
