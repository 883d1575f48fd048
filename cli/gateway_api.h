#ifndef BEIGE_CLI_GATEWAY_API_H_
#define BEIGE_CLI_GATEWAY_API_H_

#include <string>

#include "api/paths.h"
#include "base/result.h"

namespace beige::cli {

// Where the gateway can be reached from here; its info file has the port, gateway.yaml the address.
std::string GatewayAddress(const HomePaths& paths, int port);

// The body of GET `path` from this home's running gateway, with the home's own token. Unavailable when it does not run or does not
// answer, Denied and so on as it says.
Result<std::string> GetFromGateway(const HomePaths& paths, const std::string& path);

}  // namespace beige::cli

#endif
