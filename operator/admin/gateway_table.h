#ifndef BEIGE_OPERATOR_ADMIN_GATEWAY_TABLE_H_
#define BEIGE_OPERATOR_ADMIN_GATEWAY_TABLE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/admin.h"
#include "base/clock.h"

namespace beige {

// What the gateway has said about one agent since the present connection began.
struct GatewayFacts {
  bool synced = false;         // connected, and told the complete set
  std::string absent_message;  // why not
  SteadyTime synced_at{};

  std::optional<admin::Grant> sent;  // the newest that it was told
  SteadyTime sent_at{};
  bool pending = false;              // `sent` is not answered yet
  std::optional<admin::InForce> in_force;
  std::optional<admin::Rejected> rejected;  // the answer to `sent`

  std::optional<admin::Announced> announced;  // the answer to the newest announcement

  bool registered = false;  // a PID 1 holds the control channel
  std::string instance;     // the one that it claims to be
  SteadyTime registration_changed_at{};
  std::optional<bool> round_trip;  // of the last one of this registration
  int round_trip_failures = 0;     // in a row
  std::string round_trip_message;
  bool probe_sent = false;         // asked for one since this registration
};

// The gateway's words as state: no socket, no lock. Keeps nothing of a connection beyond its end.
class GatewayTable {
 public:
  void Connected();                                                    // hello exchanged
  void Disconnected(const std::string& why);
  void SyncSent(const std::vector<admin::Grant>& grants, SteadyTime now);
  void PutSent(const admin::Grant& grant, SteadyTime now);
  void RemoveSent(const std::string& uid);
  void ProbeSent(const std::string& uid);
  void AnnounceSent(const std::string& uid);
  // The uid whose facts it changed in a way that somebody could act on; "" = none.
  std::string Apply(const admin::ToOperator& message, SteadyTime now);

  GatewayFacts Facts(const std::string& uid) const;
  bool Removed(const std::string& uid) const { return !agents_.contains(uid); }
  bool connected() const { return connected_; }
  bool synced() const { return synced_; }
  const std::string& absent_message() const { return why_; }
  std::vector<std::string> uids() const;

 private:
  std::map<std::string, GatewayFacts> agents_;
  bool connected_ = false;
  bool synced_ = false;
  SteadyTime synced_at_{};
  std::string why_ = "not connected yet";
};

}  // namespace beige

#endif
