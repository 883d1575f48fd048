#ifndef BEIGE_GATEWAY_CALLS_CALLS_IMPL_H_
#define BEIGE_GATEWAY_CALLS_CALLS_IMPL_H_

#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/loop.h"
#include "gateway/audit/audit_log.h"
#include "gateway/calls/calls.h"
#include "gateway/calls/running_call.h"
#include "gateway/metrics/metrics.h"
#include "gateway/policy/policy.h"
#include "gateway/roster/roster.h"

namespace beige {

struct Calls::Impl {
  Impl(Loop& l, Roster& r, AuditLog& a, GatewayMetrics& m, const Clock& c) : roster(r), audit(a), metrics(m), clock(c), sweep(l) {}

  RunningCall* Find(Id id) const {
    const auto it = running.find(id);
    return it == running.end() ? nullptr : it->second.get();
  }

  struct Counts {
    std::array<int64_t, kCallKinds> of{};
    int64_t All() const { return std::accumulate(of.begin(), of.end(), int64_t{0}); }
  };

  Roster& roster;
  AuditLog& audit;
  GatewayMetrics& metrics;
  const Clock& clock;
  Timer sweep;
  bool sweeping = false;
  Id next = 1;
  std::unordered_map<Id, std::unique_ptr<RunningCall>> running;
  std::unordered_map<std::string, Counts, Policy::Hash, std::equal_to<>> in_flight;
};

}  // namespace beige

#endif
