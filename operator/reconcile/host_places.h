#ifndef BEIGE_OPERATOR_RECONCILE_HOST_PLACES_H_
#define BEIGE_OPERATOR_RECONCILE_HOST_PLACES_H_

#include <optional>
#include <string>
#include <vector>

#include "base/mount_info.h"

namespace beige {

// Links and .. resolved; nullopt when it does not exist or can't be reached.
std::optional<std::string> RealPath(const std::string& path);

// `inner` is `outer` or lies beneath it. Both real, absolute paths.
bool IsWithin(const std::string& inner, const std::string& outer);

// Where a path of this host really is: which file system, and where in it. A bind mount gives a directory a second path, never a second
// place.
struct Place {
  std::string device;   // "8:1"
  std::string path;     // within the file system
  std::string fs_type;
  bool Holds(const Place& other) const { return device == other.device && IsWithin(other.path, path); }
};

// This process's mounts, read once.
class HostPlaces {
 public:
  HostPlaces();
  std::optional<Place> Of(const std::string& real_path) const;
  // Mount points beneath `real_path`.
  std::vector<std::string> MountsBeneath(const std::string& real_path) const;

 private:
  std::vector<MountInfo> mounts_;
};

// Why no sandbox may have `real_path`, whatever the configuration says; "" = it may. Never: the whole host, anything of the kernel's file
// systems or of /dev, the home and what holds it, what holds an engine's socket or is an engine's own, and what has other mounts beneath
// (an engine makes only the uppermost one read-only).
std::string WhyNeverMounted(const std::string& real_path, const std::string& home, const std::vector<std::string>& engine_sockets);

}  // namespace beige

#endif
