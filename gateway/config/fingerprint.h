#ifndef BEIGE_GATEWAY_CONFIG_FINGERPRINT_H_
#define BEIGE_GATEWAY_CONFIG_FINGERPRINT_H_

#include <set>
#include <string>

#include "api/paths.h"
#include "gateway/config/config_set.h"

namespace beige {

// What a change of configuration can show itself in: the files, and the directories to watch for them.
struct WatchedFiles {
  std::set<std::string> files;
  std::set<std::string> directories;
};

// The files of `set`, and `also`.
WatchedFiles FilesOf(const HomePaths& paths, const ConfigSet& set, const std::set<std::string>& also);

// Names, inodes, sizes and times of the files: differs when any of them was written, replaced, made or removed.
std::string FingerprintOf(const WatchedFiles& watched);

}  // namespace beige

#endif
