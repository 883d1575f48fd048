#ifndef BEIGE_BASE_MOUNT_INFO_H_
#define BEIGE_BASE_MOUNT_INFO_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace beige {

// One line of /proc/<pid>/mountinfo (proc(5)).
struct MountInfo {
  uint64_t id = 0;
  std::string device;    // "8:1"; the same for every mount of one file system
  std::string root;      // within its file system
  std::string point;     // as the process sees it
  std::vector<std::string> options;  // of the mount, not of the file system
  std::string fs_type;
  std::vector<std::string> super_options;
  bool propagates = false;  // mounts come in from outside or go out
  bool Has(std::string_view option) const;
};

// Lines that are cut or of another form are left out.
std::vector<MountInfo> ParseMountInfo(std::string_view text);

}  // namespace beige

#endif
