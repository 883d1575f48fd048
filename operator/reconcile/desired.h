#ifndef BEIGE_OPERATOR_RECONCILE_DESIRED_H_
#define BEIGE_OPERATOR_RECONCILE_DESIRED_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/admin.h"
#include "api/load.h"
#include "base/guarded.h"
#include "base/result.h"
#include "operator/store/identity_store.h"

namespace beige {

// What is wanted of one agent, whatever source said so.
struct DesiredAgent {
  std::optional<Identity> identity;     // the accepted version; absent: no version was ever valid, or `identity_error`
  std::vector<Problem> problems;        // of a newer version that is not accepted
  std::vector<Problem> conflicts;       // other files with the same name
  std::string file;
  std::optional<Error> identity_error;  // it could not be given a uid
  bool operator==(const DesiredAgent&) const = default;
};

// An immutable whole, swapped at once.
struct Desired {
  std::map<AgentKey, DesiredAgent> agents;
  std::vector<Problem> problems;
  std::string notice;
};
// Null before the first complete snapshot: then nothing may be removed, and the gateway is told nothing.
using DesiredState = Guarded<std::shared_ptr<const Desired>>;

// uid and gid of the sandbox's processes: runAsUser if the Agent names one.
uint32_t SandboxUid(const Identity& identity);
uint32_t SandboxGid(const Identity& identity);

admin::Grant GrantOf(const Identity& identity);
std::vector<admin::Grant> GrantsOf(const Desired& desired);

}  // namespace beige

#endif
