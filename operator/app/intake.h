#ifndef BEIGE_OPERATOR_APP_INTAKE_H_
#define BEIGE_OPERATOR_APP_INTAKE_H_

#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "api/paths.h"
#include "operator/reconcile/reconciler.h"
#include "operator/source/snapshot.h"
#include "operator/store/event_log.h"
#include "operator/store/identity_store.h"

namespace beige {

// Turns snapshots of a source into what is desired: gives each agent its identity, buries those that are gone, publishes the whole and
// says which keys deserve a look. Lives on the source's thread.
class Intake {
 public:
  struct Deps {
    const HomePaths& paths;
    IdentityStore& identities;
    DesiredState& desired;
    const ConfigState& config;
    EventLog& events;
    std::function<void(const AgentKey&)> changed;
    std::function<void()> first;  // the first complete snapshot is published
  };
  explicit Intake(Deps deps) : d_(std::move(deps)) {}
  void OnSnapshot(const Snapshot& snapshot);
  // The last snapshot once more: the range of uids was changed, or the disk may have room again.
  void Again();
  bool incomplete() const { return incomplete_; }  // an identity or a deletion could not be noted: call Again after a while

 private:
  void Say(const Snapshot& snapshot, const Desired* before);

  const Deps d_;
  std::optional<Snapshot> last_;
  bool incomplete_ = false;
};

// Who sandboxes run as: from the range when this process may give files away, else the home's owner.
Result<UidPolicy> MakeUidPolicy(const OperatorConfig& config, const HomePaths& paths);

}  // namespace beige

#endif
