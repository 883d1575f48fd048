#ifndef BEIGE_GATEWAY_APP_GATEWAY_APP_H_
#define BEIGE_GATEWAY_APP_GATEWAY_APP_H_

#include <string>

namespace beige {

// Runs a gateway on `home` until SIGTERM or SIGINT. Exit status: 0 after a signal, 2 when the configuration is invalid, 1 otherwise;
// every reason is on stderr.
int RunGateway(const std::string& home);

}  // namespace beige

#endif
