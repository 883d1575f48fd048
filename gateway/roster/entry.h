#ifndef BEIGE_GATEWAY_ROSTER_ENTRY_H_
#define BEIGE_GATEWAY_ROSTER_ENTRY_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/admin.h"
#include "api/config.h"
#include "api/paths.h"
#include "gateway/calls/call.h"
#include "gateway/control/control_point.h"
#include "gateway/link/link.h"
#include "gateway/policy/policy.h"
#include "gateway/publish/publish.h"
#include "gateway/tools/tool_router.h"

namespace beige {

class AuditLog;
class GatewayMetrics;

// The configuration as grants are judged by it; immutable, swapped whole.
struct Catalogue {
  std::shared_ptr<const GatewayConfig> config;
  std::map<std::string, std::shared_ptr<const ToolManifest>, std::less<>> tools;
  std::shared_ptr<const Policy::Names> names;
};

// What all entries share.
struct RosterHost {
  Loop& loop;
  WriteBatch& batch;
  Turns& turns;
  const HomePaths& paths;
  AuditLog& audit;
  GatewayMetrics& metrics;
  const Clock& clock;
  CellHost cells;
  CallService& calls;
  std::function<void(const admin::ToOperator&)> on_event;
};

// One agent with a grant: everything that exists because of it.
class RosterEntry final : public ControlEvents {
 public:
  // Makes the directory and opens both sockets.
  static Result<std::unique_ptr<RosterEntry>> Make(RosterHost& host, const admin::Grant& grant, const Catalogue& catalogue);
  ~RosterEntry() override;

  // Puts `grant` in force under `catalogue`. What it takes away is gone at once, whatever fails after; what it adds comes with the tree,
  // or not at all: then grant() is what both allow, of the former generation. Without a configuration only the policy changes.
  Result<> Apply(const admin::Grant& grant, const Catalogue& catalogue);
  // In force from now on is only what `grant` allows as well.
  void Narrow(const admin::Grant& grant, const Catalogue& catalogue);
  // True when it differs from what was told last.
  bool Judge();

  const admin::Grant& grant() const { return grant_; }
  const admin::InForce& in_force() const { return in_force_; }
  const Policy& policy() const { return *policy_; }
  ToolRouter& tools() { return tools_; }
  ControlPoint& control() { return *control_; }
  Link& link() { return *link_; }
  int64_t max_calls() const { return max_calls_; }

 private:
  RosterEntry(RosterHost& host, const admin::Grant& grant);
  void Force(const admin::Grant& grant, const Catalogue& catalogue);
  static PublishedTree TreeOf(const admin::Grant& grant, const Catalogue& catalogue);

  void OnRegistered(const std::string& instance, const std::string& version) override;
  void OnLost() override;
  void OnRoundTrip(bool ok, int64_t micros, const std::string& message) override;
  void OnStrangers(int64_t count, const std::string& last_reason) override;
  void ExpectProbe(const std::string& nonce, std::function<void()> seen) override;

  RosterHost& host_;
  Party party_;  // before whatever takes its share
  admin::Grant grant_;
  admin::InForce in_force_;
  std::shared_ptr<const Policy> policy_;
  int64_t max_calls_ = 0;
  std::vector<std::string> unknown_tools_;
  std::vector<std::string> unknown_skills_;
  std::vector<std::string> unknown_models_;
  std::map<std::string, std::string> unavailable_skills_;  // skill -> why
  ToolRouter tools_;
  std::unique_ptr<ControlPoint> control_;
  std::unique_ptr<Link> link_;
};

}  // namespace beige

#endif
