#ifndef BEIGE_CLI_GATEWAY_ADDRESS_H_
#define BEIGE_CLI_GATEWAY_ADDRESS_H_

#include <string>

#include "api/paths.h"

namespace beige::cli {

// Where the gateway's HTTP API can be reached from here, e.g. "127.0.0.1:7433": its info file has the port, gateway.yaml the address.
std::string GatewayAddress(const HomePaths& paths, int port);

}  // namespace beige::cli

#endif
