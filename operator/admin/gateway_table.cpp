#include "operator/admin/gateway_table.h"

namespace beige {
namespace {
template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;
}  // namespace

void GatewayTable::Connected() {
  connected_ = true;
  why_ = "the gateway is being told what is wanted";
}

void GatewayTable::Disconnected(const std::string& why) {
  agents_.clear();
  connected_ = synced_ = false;
  why_ = why;
}

void GatewayTable::SyncSent(const std::vector<admin::Grant>& grants, SteadyTime now) {
  agents_.clear();
  for (const admin::Grant& grant : grants) PutSent(grant, now);
  synced_ = true;
  synced_at_ = now;
}

void GatewayTable::PutSent(const admin::Grant& grant, SteadyTime now) {
  GatewayFacts& facts = agents_[grant.agent.uid];
  facts.sent = grant;
  facts.sent_at = now;
  facts.pending = true;
  facts.rejected.reset();
}

void GatewayTable::RemoveSent(const std::string& uid) {
  if (auto it = agents_.find(uid); it != agents_.end()) it->second.pending = true;
}

void GatewayTable::ProbeSent(const std::string& uid) {
  if (auto it = agents_.find(uid); it != agents_.end()) it->second.probe_sent = true;
}

void GatewayTable::AnnounceSent(const std::string& uid) {
  if (auto it = agents_.find(uid); it != agents_.end()) it->second.announced.reset();
}

std::string GatewayTable::Apply(const admin::ToOperator& message, SteadyTime now) {
  // Words about agents that we never told it of change nothing.
  const auto find = [&](const std::string& uid) {
    const auto it = agents_.find(uid);
    return it == agents_.end() ? nullptr : &it->second;
  };
  return std::visit(
      Overloaded{
          [](const admin::Hello&) { return std::string(); },
          [](const admin::Synced&) { return std::string(); },
          [&](const admin::InForce& m) {
            GatewayFacts* facts = find(m.uid);
            if (!facts || (facts->in_force == m && !facts->pending)) return std::string();
            if (facts->sent && m.generation >= facts->sent->generation) facts->pending = false;
            facts->in_force = m;
            return m.uid;
          },
          [&](const admin::Rejected& m) {
            GatewayFacts* facts = find(m.uid);
            if (!facts || !facts->sent || m.generation != facts->sent->generation) return std::string();
            facts->pending = false;
            facts->rejected = m;
            return m.uid;
          },
          [&](const admin::Removed& m) { return agents_.erase(m.uid) > 0 ? m.uid : std::string(); },
          [&](const admin::Announced& m) {
            if (GatewayFacts* facts = find(m.uid)) facts->announced = m;
            return std::string();  // a worker waits for it
          },
          [&](const admin::Registered& m) {
            GatewayFacts* facts = find(m.uid);
            if (!facts) return std::string();
            facts->registered = true;
            facts->instance = m.instance;
            facts->registration_changed_at = now;
            facts->round_trip.reset();
            facts->round_trip_failures = 0;
            facts->probe_sent = false;
            return m.uid;
          },
          [&](const admin::Lost& m) {
            GatewayFacts* facts = find(m.uid);
            if (!facts || !facts->registered) return std::string();
            facts->registered = false;
            facts->registration_changed_at = now;
            facts->round_trip.reset();
            return m.uid;
          },
          [&](const admin::RoundTrip& m) {
            GatewayFacts* facts = find(m.uid);
            if (!facts) return std::string();
            const bool same = facts->round_trip == m.ok && m.ok;
            facts->round_trip = m.ok;
            facts->round_trip_failures = m.ok ? 0 : facts->round_trip_failures + 1;
            facts->round_trip_message = m.message;
            return same ? std::string() : m.uid;  // the good ones come every 30 s for ever
          },
      },
      message);
}

GatewayFacts GatewayTable::Facts(const std::string& uid) const {
  const auto it = agents_.find(uid);
  GatewayFacts facts = it == agents_.end() ? GatewayFacts{} : it->second;
  facts.synced = synced_;
  facts.synced_at = synced_at_;
  facts.absent_message = synced_ ? "" : why_;
  return facts;
}

std::vector<std::string> GatewayTable::uids() const {
  std::vector<std::string> all;
  for (const auto& [uid, facts] : agents_) all.push_back(uid);
  return all;
}

}  // namespace beige
