#ifndef BEIGE_GATEWAY_LLM_PLACES_H_
#define BEIGE_GATEWAY_LLM_PLACES_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace beige::llm {

// The places of one provider: at most `limit` requests at one time. Who finds none waits, in the order of coming within one agent and in
// turns between agents, so an agent with a hundred requests does not hold up one with a single one. Pure; the caller acts on the answers.
class Places {
 public:
  using Ticket = uint64_t;

  explicit Places(int64_t limit) : limit_(limit) {}

  // A new ticket. Has(ticket) tells whether it has a place at once; if not it waits until `deadline`.
  Ticket Enter(const std::string& agent, SteadyTime deadline);
  // Gives the place back, or stops waiting; unknown tickets are ignored. The answer: who has got a place by that.
  std::vector<Ticket> Leave(Ticket ticket);
  std::vector<Ticket> SetLimit(int64_t limit);  // lowering it takes nobody's place
  // Those whose deadline has come; they wait no longer.
  std::vector<Ticket> Expire(SteadyTime now);

  bool Has(Ticket ticket) const { return taken_.contains(ticket); }
  std::optional<SteadyTime> NextDeadline() const;
  size_t taken() const { return taken_.size(); }
  size_t waiting() const { return waiting_.size(); }

 private:
  struct Waiter {
    std::string agent;
    SteadyTime deadline;
  };
  std::vector<Ticket> Admit();
  void Unqueue(Ticket ticket);

  int64_t limit_;
  Ticket last_ = 0;
  std::map<Ticket, std::string> taken_;  // with the agent
  std::map<Ticket, Waiter> waiting_;
  std::map<std::string, std::deque<Ticket>> queues_;  // by agent, none empty
  std::deque<std::string> turns_;                     // agents with a queue; the first is next
};

}  // namespace beige::llm

#endif
