#ifndef BEIGE_OPERATOR_STORE_HOME_ID_H_
#define BEIGE_OPERATOR_STORE_HOME_ID_H_

#include <cstdint>
#include <string>

#include "api/paths.h"
#include "base/result.h"

namespace beige {

// data/operator/home.json: who this home is. Its containers carry the id, so a copy of the home (another machine id, or another inode on
// the same machine) must not take them for its own.
struct HomeId {
  std::string id;      // a random UUID
  bool copied = false; // the file was written by a home elsewhere
  std::string why;     // for a person, when copied
};

struct MachineFacts {
  std::string machine_id;  // /etc/machine-id, "" if there is none
  uint64_t inode = 0;      // of the home
};
Result<MachineFacts> ReadMachineFacts(const HomePaths& paths);

// Reads it, or makes it. `adopt`: this home is the one from now on, with the same id.
Result<HomeId> LoadHomeId(const HomePaths& paths, const MachineFacts& facts, bool adopt);

}  // namespace beige

#endif
