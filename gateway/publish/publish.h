#ifndef BEIGE_GATEWAY_PUBLISH_PUBLISH_H_
#define BEIGE_GATEWAY_PUBLISH_PUBLISH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/config.h"
#include "api/paths.h"
#include "base/result.h"

namespace beige {

// What one agent sees of its tools and skills.
struct PublishedTree {
  std::vector<std::shared_ptr<const ToolManifest>> tools;  // a launcher and a docs folder each
  std::map<std::string, std::string> skills;               // name -> absolute source folder
};

// Makes the three directories of `uid` (bin, packages, skills) hold exactly `tree`: entries appear and vanish by rename, the mounted
// directories themselves are never replaced, an unchanged entry is not touched. Launchers are symlinks to /beige/bin/beige-sandbox.
// packages/<tool>/README.md is made from the manifest (never code or secrets). Skills are copied: regular files and folders only,
// links and special files are left out, at most 64 MiB a skill. All world-readable, so that any sandbox uid works. What `tree` does not
// name is taken away even when something else fails. A skill that can't be copied is left out: the value is skill -> why.
Result<std::map<std::string, std::string>> PublishTree(const HomePaths& paths, const std::string& uid, const PublishedTree& tree);
Result<> RemoveTreeOf(const HomePaths& paths, const std::string& uid);

}  // namespace beige

#endif
