#ifndef BEIGE_OPERATOR_STORE_STATUS_STORE_H_
#define BEIGE_OPERATOR_STORE_STATUS_STORE_H_

#include <map>
#include <optional>
#include <set>
#include <string>

#include "api/agent.h"
#include "api/paths.h"
#include "base/guarded.h"
#include "base/result.h"

namespace beige {

// data/operator/status/<ns>/<name>.json: whole Agents with status and local paths, what `beige get` reads. Thread-safe; one key is
// written by one thread at a time (the queue sees to that).
class StatusStore {
 public:
  explicit StatusStore(HomePaths paths) : paths_(std::move(paths)) {}

  // What was written last, by this process or an earlier one; nullopt if nothing readable.
  std::optional<Agent> Last(const AgentKey& key);
  // True if it differed and was written.
  Result<bool> Write(const Agent& agent);
  Result<> Remove(const AgentKey& key);
  std::set<AgentKey> OnDisk() const;

 private:
  const HomePaths paths_;
  Guarded<std::map<AgentKey, Agent>> last_;
};

}  // namespace beige

#endif
