#ifndef BEIGE_GATEWAY_ROSTER_ROSTER_H_
#define BEIGE_GATEWAY_ROSTER_ROSTER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/admin.h"
#include "api/config.h"
#include "api/paths.h"
#include "base/result.h"

namespace beige {

class Loop;
class Clock;
class AuditLog;
class GatewayMetrics;
class CallService;

// What the gateway knows of one agent, for lists and the HTTP API.
struct AgentView {
  admin::Grant grant;
  admin::InForce in_force;
  bool connected = false;      // PID 1 holds the control channel
  std::string instance;
  size_t connections = 0;      // callers on gateway.sock
  size_t calls = 0;            // in flight
};

// Every agent that has a grant: its policy, its link (directory with two sockets), its control channel and its tool cells.
// Core thread only. Grants are persisted and in force again at the next start, before any operator connects.
class Roster {
 public:
  Roster(Loop& loop, const HomePaths& paths, AuditLog& audit, GatewayMetrics& metrics, const Clock& clock);
  ~Roster();

  // Calls and Roster need each other: links start calls, calls look up grants. Set once before anything else.
  void Bind(CallService* calls);
  // Loads persisted grants and opens their links.
  Result<> Start();

  // Immutable configuration, swapped whole; re-evaluates every grant and reports changed ones through on_in_force.
  void SetConfig(std::shared_ptr<const GatewayConfig> config, std::vector<std::shared_ptr<const ToolManifest>> tools);

  Result<admin::InForce> Put(const admin::Grant& grant);  // acknowledged only when in force: persisted, links open, tree published
  Result<> Remove(const std::string& uid);                // absent is success; ends its calls, closes its link, removes its tree and keys
  Result<> Announce(const std::string& uid, const std::string& instance);
  Result<> Probe(const std::string& uid);                 // result through on_event
  std::vector<std::string> Uids() const;

  // Registered, Lost, RoundTrip and InForce (after SetConfig) for the operator.
  void OnEvent(std::function<void(const admin::ToOperator&)> fn);

  std::vector<AgentView> List() const;
  std::optional<AgentView> Find(const AgentKey& key) const;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace beige

#endif
