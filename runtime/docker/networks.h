#ifndef BEIGE_RUNTIME_DOCKER_NETWORKS_H_
#define BEIGE_RUNTIME_DOCKER_NETWORKS_H_

#include <set>
#include <string>

#include "base/guarded.h"
#include "base/result.h"
#include "runtime/engine/http.h"
#include "runtime/sandbox.h"

namespace beige::runtime::docker {

// The bridges of agents with open egress: one each, with the container's name and its owner's labels, so that no agent shares a link with
// another. Thread-safe.
class Networks {
 public:
  explicit Networks(engine::EngineHttp& http) : http_(http) {}

  // Makes the bridge, or takes over the one that a create which was cut off left behind. True when it was made. Conflict when the name is
  // somebody else's.
  Result<bool> Ensure(const std::string& name, const SandboxKey& key);
  Result<> Remove(const SandboxKey& key);  // all of this owner; none is success
  // Removes the bridges of the home whose owner is not among `uids`.
  Result<> Prune(const std::string& home, const std::set<std::string>& uids);

 private:
  Result<> Delete(const std::string& id);

  engine::EngineHttp& http_;
  Guarded<std::multiset<std::string>> making_;  // uids whose container is about to be made: not for Prune

  friend class NetworkLease;
};

// Keeps Prune away from an owner's bridge between Ensure and the create of its container.
class NetworkLease {
 public:
  NetworkLease(Networks& networks, std::string uid);
  ~NetworkLease();
  NetworkLease(const NetworkLease&) = delete;
  NetworkLease& operator=(const NetworkLease&) = delete;

 private:
  Networks& networks_;
  const std::string uid_;
};

}  // namespace beige::runtime::docker

#endif
