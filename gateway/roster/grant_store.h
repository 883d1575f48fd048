#ifndef BEIGE_GATEWAY_ROSTER_GRANT_STORE_H_
#define BEIGE_GATEWAY_ROSTER_GRANT_STORE_H_

#include <string>
#include <vector>

#include "api/admin.h"
#include "base/result.h"

namespace beige {

// Grants on disk, one file each, so that they are in force before any operator connects.
class GrantStore {
 public:
  explicit GrantStore(std::string directory) : directory_(std::move(directory)) {}

  // A file that can't be read is left alone and said; the others count.
  Result<std::vector<admin::Grant>> Load() const;
  Result<> Store(const admin::Grant& grant) const;  // fsynced
  Result<> Remove(const std::string& uid) const;

 private:
  std::string directory_;
};

// Names from the other side that become names of files: a uid of letters, digits and '-', at most 64; names as the schema has them.
Result<> CheckGrant(const admin::Grant& grant);
Result<> CheckUid(const std::string& uid);

}  // namespace beige

#endif
