#include "operator/reconcile/disk_policy.h"

#include <algorithm>

namespace beige {

std::optional<DiskPolicy::Stop> DiskPolicy::Look(int64_t free, int64_t least, const std::map<std::string, DiskUse>& uses) {
  const bool first = base_.empty();
  std::optional<Stop> most;
  for (const auto& [uid, use] : uses) {
    // Filled faster than we look, nothing was seen growing: then what was written lately says who did it.
    const auto base = base_.find(uid);
    const int64_t grew = base == base_.end() ? use.recent : use.bytes - base->second;
    if (!most || grew > most->grew) most = Stop{uid, grew};
  }
  const bool stop = free < least && most && most->grew >= std::max<int64_t>(1 << 20, least / 16);
  if (first || stop) {
    base_.clear();
    for (const auto& [uid, use] : uses) base_[uid] = use.bytes;
  } else {
    for (const auto& [uid, use] : uses) base_.emplace(uid, use.bytes);
  }
  return stop ? most : std::nullopt;
}

}  // namespace beige
