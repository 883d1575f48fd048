#include "operator/reconcile/disk_policy.h"

#include <algorithm>

namespace beige {

std::optional<DiskPolicy::Stop> DiskPolicy::Look(int64_t free, int64_t least, const std::map<std::string, DiskUse>& uses) {
  const bool first = base_.empty();
  const int64_t enough = std::max(floor_, least / 16);
  std::map<std::string, int64_t> grown;
  int64_t hidden = base_free_ ? *base_free_ - free : 0;
  int64_t cut = 0;
  for (const auto& [uid, use] : uses) {
    // Filled faster than we look, nothing was seen growing: then what was written lately says who did it.
    const auto base = base_.find(uid);
    grown[uid] = base == base_.end() ? use.recent : use.total - base->second;
    hidden -= std::max<int64_t>(0, grown[uid]);
    if (use.cut) ++cut;
  }
  if (hidden < enough) hidden = 0;
  std::optional<Stop> most;
  for (const auto& [uid, use] : uses) {
    const int64_t charged = use.cut ? hidden : 0;
    if (const int64_t grew = grown[uid] + charged; !most || grew > most->grew) most = Stop{uid, grew, charged};
  }
  const bool stop = free < least && most && most->grew >= enough;
  if (first || stop) {
    base_.clear();
    for (const auto& [uid, use] : uses) base_[uid] = use.total;
    // Whose it was is not known among several: the others of them are looked at next.
    base_free_ = free + (stop && cut > (most->hidden > 0 ? 1 : 0) ? hidden : 0);
  } else {
    for (const auto& [uid, use] : uses) base_.emplace(uid, use.total);
  }
  return stop ? most : std::nullopt;
}

}  // namespace beige
