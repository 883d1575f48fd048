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
class JobChannel;
class Policy;
class ToolRouter;

// What the gateway knows of one agent, for lists and the HTTP API.
struct AgentView {
  admin::Grant grant;
  admin::InForce in_force;
  bool connected = false;      // PID 1 holds the control channel
  std::string instance;
  size_t connections = 0;      // callers on gateway.sock
  size_t calls = 0;            // in flight
};

// What decides about a call of one agent and where it runs; valid until the loop's next turn.
struct Standing {
  const Policy* policy = nullptr;
  ToolRouter* tools = nullptr;
  JobChannel* control = nullptr;  // nullptr while PID 1 is not there
  int64_t max_calls = 0;          // in flight, of each kind
};

// Every agent that has a grant: its policy, its link (directory with two sockets), its control channel and its tool cells.
// Core thread only. Grants are persisted and in force again at the next start, before any operator connects.
class Roster {
 public:
  Roster(Loop& loop, const HomePaths& paths, AuditLog& audit, GatewayMetrics& metrics, const Clock& clock);
  ~Roster();

  // Calls and Roster need each other: links start calls, calls look up grants. Calls binds itself; nullptr denies every call.
  void Bind(CallService* calls);
  // Loads persisted grants and opens their links. Trees and cells are made once a configuration is set as well, in either order.
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

  // An agent was removed (by the operator, not merely absent at a start): its calls have ended, and its grant is still stored, so that
  // whatever is done here is done again by a gateway that ends in between.
  void OnRemoved(std::function<void(const AgentRef&)> fn);

  std::vector<AgentView> List() const;
  std::optional<AgentView> Find(const AgentKey& key) const;

  std::optional<Standing> StandingOf(std::string_view uid) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace beige

#endif
