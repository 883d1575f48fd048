#ifndef BEIGE_BASE_USER_NAMESPACE_H_
#define BEIGE_BASE_USER_NAMESPACE_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace beige {

struct IdRange {
  uint32_t first = 0;
  uint32_t count = 1;
  bool operator==(const IdRange&) const = default;
};

// Ids of a user namespace and what they are around it.
struct IdMap {
  uint32_t inside = 0;
  uint32_t outside = 0;
  uint32_t count = 1;
  bool operator==(const IdMap&) const = default;
};

// True when this process may map these uids and gids into a user namespace that it makes: it has CAP_SETUID and CAP_SETGID, and they exist
// in its own. bubblewrap maps no more than one id by itself; with `--userns-block-fd` and `--info-fd` it leaves the maps to whoever starts it.
bool CanMapIds(const IdRange& range);

// The pid that bubblewrap writes to its `--info-fd`; nullopt while `text` is not whole.
std::optional<pid_t> ChildPidOf(std::string_view text);

// Writes both maps of the user namespace that `child` is the first process of.
Result<> WriteIdMaps(pid_t child, const std::vector<IdMap>& uids, const std::vector<IdMap>& gids);

// True for the uid under which the kernel shows whoever is not known in this user namespace, where root of the machine is one of those:
// root here is another one (a gateway of root's under `beige up`).
bool MayBeRootOutside(uid_t uid);

}  // namespace beige

#endif
