#ifndef BEIGE_OPERATOR_STORE_IDENTITY_STORE_H_
#define BEIGE_OPERATOR_STORE_IDENTITY_STORE_H_

#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/agent.h"
#include "api/paths.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/result.h"

namespace beige {

// One incarnation of an agent. Delete and add again makes a new one.
struct Identity {
  Agent agent;               // the last accepted version, with uid, generation and creation time
  uint32_t sandbox_uid = 0;  // never 0; of the incarnation, whatever spec.sandbox.securityContext.runAsUser says
  uint32_t sandbox_gid = 0;
  std::string file;          // it was read from
  bool operator==(const Identity&) const = default;

  const std::string& uid() const { return agent.metadata.uid; }
};

// How sandbox uids are chosen.
struct UidPolicy {
  bool may_chown = false;  // a uid of its own for each agent out of the range; else the home's owner
  uint32_t first = 200000;
  uint32_t last = 265535;
  uid_t owner_uid = 0;  // of the home
  gid_t owner_gid = 0;
};

// data/operator/identities/<ns>/<name>.json, and tombstones of deleted incarnations that are still to be cleaned up in
// data/operator/identities/.deleted/<uid>.json. Thread-safe; everything is on disk before a call returns.
class IdentityStore {
 public:
  IdentityStore(HomePaths paths, const Clock& clock) : paths_(std::move(paths)), clock_(clock) {}

  Result<> Load();
  std::vector<Identity> All() const;

  // The identity of an agent that the source delivered: made when it is new, generation + 1 when the spec differs, written only when
  // something differs. Exhausted when the uid range is used up.
  Result<Identity> Ensure(const Agent& agent, const std::string& file, const UidPolicy& policy);

  // The agent is gone from the source: its identity becomes a tombstone, so that the same name added again is somebody else at once.
  Result<> Bury(const AgentKey& key);
  std::vector<Identity> Tombstones(const AgentKey& key) const;
  std::set<AgentKey> TombstoneKeys() const;
  Result<> Forget(const std::string& uid);  // cleaned up: the tombstone goes

  bool KnowsUid(const std::string& uid) const;  // living or buried

 private:
  struct State {
    std::map<AgentKey, Identity> living;
    std::map<std::string, Identity> buried;  // by uid
  };
  std::string FileOf(const AgentKey& key) const;
  std::string TombstoneOf(const std::string& uid) const;
  Result<uint32_t> ChooseUid(const AgentKey& key, const UidPolicy& policy) const;

  const HomePaths paths_;
  const Clock& clock_;
  Guarded<State> state_;
};

}  // namespace beige

#endif
