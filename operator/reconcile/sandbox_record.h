#ifndef BEIGE_OPERATOR_RECONCILE_SANDBOX_RECORD_H_
#define BEIGE_OPERATOR_RECONCILE_SANDBOX_RECORD_H_

#include <optional>
#include <string>

#include "api/paths.h"
#include "base/result.h"
#include "runtime/sandbox.h"

namespace beige {

// data/operator/sandboxes/<id>.json: the spec with which the present container was made. A later operator, with other defaults or another
// version's binaries, verifies the container against this and not against what it would make today.
Result<> WriteSandboxRecord(const HomePaths& paths, const runtime::SandboxSpec& spec);
// nullopt if there is none of this instance.
std::optional<runtime::SandboxSpec> ReadSandboxRecord(const HomePaths& paths, const std::string& uid, const std::string& instance);
Result<> RemoveSandboxRecord(const HomePaths& paths, const std::string& uid);

}  // namespace beige

#endif
