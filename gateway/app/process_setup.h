#ifndef BEIGE_GATEWAY_APP_PROCESS_SETUP_H_
#define BEIGE_GATEWAY_APP_PROCESS_SETUP_H_

#include "api/paths.h"
#include "base/result.h"

namespace beige {

// What a gateway process is before it does anything: not dumpable, no SIGPIPE, umask 077, as many descriptors as it may have.
Result<> SetUpProcess();

// The directories that the gateway writes, 0700 where it makes them. NotFound when the home itself is absent.
Result<> PrepareDirectories(const HomePaths& paths);

}  // namespace beige

#endif
