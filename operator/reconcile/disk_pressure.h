#ifndef BEIGE_OPERATOR_RECONCILE_DISK_PRESSURE_H_
#define BEIGE_OPERATOR_RECONCILE_DISK_PRESSURE_H_

#include <map>
#include <string>
#include <utility>

#include "base/guarded.h"

namespace beige {

// Whose sandbox has to stay stopped since the disk is full, by uid, with the text for its conditions. Thread-safe.
class DiskPressure {
 public:
  std::string Why(const std::string& uid) const {
    return stopped_.With([&](const auto& all) {
      const auto it = all.find(uid);
      return it == all.end() ? std::string() : it->second;
    });
  }
  void Stop(const std::string& uid, std::string why) {
    stopped_.With([&](auto& all) { all[uid] = std::move(why); });
  }
  // All may go on; true if any was stopped.
  bool Release() {
    return stopped_.With([](auto& all) { return !std::exchange(all, {}).empty(); });
  }

 private:
  Guarded<std::map<std::string, std::string>> stopped_;
};

}  // namespace beige

#endif
