#ifndef BEIGE_OPERATOR_RECONCILE_PUBLISH_H_
#define BEIGE_OPERATOR_RECONCILE_PUBLISH_H_

#include <string>

#include "api/paths.h"
#include "base/result.h"

namespace beige {

// Puts the static beige-sandbox binary at `binary` into an immutable directory of the home, mode 0111 (PID 1 is then born non-dumpable),
// and returns that directory: bin/<version>, or bin/<version>-<digest> when another build of the same version lies there. A directory
// that exists is never touched, since running sandboxes have it mounted.
Result<std::string> PublishSandboxBinary(const HomePaths& paths, const std::string& version, const std::string& binary);

}  // namespace beige

#endif
