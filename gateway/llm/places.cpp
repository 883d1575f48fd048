#include "gateway/llm/places.h"

#include <algorithm>

namespace beige::llm {

Places::Ticket Places::Enter(const std::string& agent, SteadyTime deadline) {
  const Ticket ticket = ++last_;
  if (static_cast<int64_t>(taken_.size()) < limit_ && waiting_.empty()) {
    taken_.emplace(ticket, agent);
    return ticket;
  }
  waiting_.emplace(ticket, Waiter{agent, deadline});
  std::deque<Ticket>& queue = queues_[agent];
  if (queue.empty()) turns_.push_back(agent);
  queue.push_back(ticket);
  return ticket;
}

std::vector<Places::Ticket> Places::Leave(Ticket ticket) {
  if (taken_.erase(ticket) > 0) return Admit();
  Unqueue(ticket);
  return {};
}

std::vector<Places::Ticket> Places::SetLimit(int64_t limit) {
  limit_ = limit;
  return Admit();
}

std::vector<Places::Ticket> Places::Expire(SteadyTime now) {
  std::vector<Ticket> expired;
  for (const auto& [ticket, waiter] : waiting_) {
    if (waiter.deadline <= now) expired.push_back(ticket);
  }
  for (const Ticket ticket : expired) Unqueue(ticket);
  return expired;
}

std::optional<SteadyTime> Places::NextDeadline() const {
  std::optional<SteadyTime> next;
  for (const auto& [ticket, waiter] : waiting_) {
    if (!next || waiter.deadline < *next) next = waiter.deadline;
  }
  return next;
}

std::vector<Places::Ticket> Places::Admit() {
  std::vector<Ticket> admitted;
  while (static_cast<int64_t>(taken_.size()) < limit_ && !turns_.empty()) {
    const std::string agent = std::move(turns_.front());
    turns_.pop_front();
    std::deque<Ticket>& queue = queues_[agent];
    const Ticket ticket = queue.front();
    queue.pop_front();
    if (queue.empty()) {
      queues_.erase(agent);
    } else {
      turns_.push_back(agent);
    }
    waiting_.erase(ticket);
    taken_.emplace(ticket, agent);
    admitted.push_back(ticket);
  }
  return admitted;
}

void Places::Unqueue(Ticket ticket) {
  const auto found = waiting_.find(ticket);
  if (found == waiting_.end()) return;
  const std::string agent = std::move(found->second.agent);
  waiting_.erase(found);
  std::deque<Ticket>& queue = queues_[agent];
  std::erase(queue, ticket);
  if (!queue.empty()) return;
  queues_.erase(agent);
  std::erase(turns_, agent);
}

}  // namespace beige::llm
