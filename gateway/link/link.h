#ifndef BEIGE_GATEWAY_LINK_LINK_H_
#define BEIGE_GATEWAY_LINK_LINK_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/agent_ref.h"
#include "api/config.h"
#include "base/loop.h"
#include "base/result.h"
#include "base/socket_stream.h"
#include "base/turns.h"
#include "gateway/calls/call.h"

namespace beige {

class Connection;

// gateway.sock of one agent. Knows bytes, frames and bounds; who may do what is the CallService's business. Identity is this object:
// whatever comes in here is this agent's, whatever it says of itself.
//
// Both protocol versions are served, by the first byte of a connection. Bounds: connections, and bytes held for them (unfinished
// requests, gathered v1 output, unsent answers); the bound on calls in flight is the CallService's. What is over a bound is refused with
// a text that names it. Core thread only.
class Link {
 public:
  // `socket_path` is listened on with mode 0666; its directory exists. Accepting, reading and calling are taken from `party`'s share, so
  // that a flood here waits for its turns and nobody else does. `on_connections` hears +1 and -1; may be empty.
  static Result<std::unique_ptr<Link>> Open(Loop& loop, WriteBatch& batch, Party& party, AgentRef agent, const std::string& socket_path,
                                            const LinkLimits& limits, CallService& calls, std::function<void(int)> on_connections);
  ~Link();  // closes every connection, which cancels its calls
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void SetLimits(const LinkLimits& limits) { limits_ = limits; }
  size_t connections() const { return connections_.size(); }
  const AgentRef& agent() const { return agent_; }

  // The next round trip of PID 1 brings `nonce` on a connection of its own, for which one place is kept beyond the limit. `seen` runs
  // when it does. A new expectation replaces the old one.
  void ExpectProbe(std::string nonce, std::function<void()> seen);

 private:
  friend class Connection;
  friend class V1Session;
  friend class CallerSession;
  friend class ProbeSession;
  Link(Loop& loop, WriteBatch& batch, Party& party, AgentRef agent, UniqueFd listener, const LinkLimits& limits, CallService& calls,
       std::function<void(int)> on_connections);

  struct Acceptor final : TurnTaker {
    explicit Acceptor(Link& l) : link(l) {}
    void OnTurn() override;
    Link& link;
  };
  void Accept();
  bool AcceptOne();  // false: there is none to accept now
  void StopAccepting(bool stop);
  void EndBackOff();
  // Destroyed from the loop, not while one of its own callbacks is on the stack.
  void Drop(Connection* connection);
  // False when the limit of connections is reached and this one is not the probe's.
  bool Admit(Connection* connection, bool probe);
  bool ProbeArrived(std::string_view nonce);
  // Replaces `before` held bytes by `now`; false when that is too much for the link (it is counted all the same until released).
  bool Hold(size_t before, size_t now);

  Loop& loop_;
  WriteBatch& batch_;
  Party& party_;
  const AgentRef agent_;
  LinkLimits limits_;
  CallService& calls_;
  std::function<void(int)> on_connections_;
  UniqueFd listener_;
  std::unique_ptr<FdWatch> watch_;
  Timer retry_;
  bool accepting_ = false;  // listens for who comes; not while it stands in line or backs off
  bool backing_off_ = false;
  Acceptor acceptor_{*this};
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
  std::deque<Connection*> undecided_;  // over the limit and silent so far, oldest first
  std::vector<std::unique_ptr<Connection>> dead_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  int64_t admitted_ = 0;
  int64_t held_ = 0;
  std::string probe_nonce_;
  std::function<void()> probe_seen_;
};

}  // namespace beige

#endif
