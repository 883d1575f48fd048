#include "cli/gateway_address.h"

#include "api/load.h"
#include "base/files.h"
#include "cli/check.h"

namespace beige::cli {

std::string GatewayAddress(const HomePaths& paths, int port) {
  std::string host = "127.0.0.1";
  if (const auto text = ReadFileIfExists(paths.GatewayYaml()); text && *text) {
    if (const auto loaded = LoadGatewayConfig(**text, paths.GatewayYaml(), AnyEnv()); loaded.value) host = loaded.value->http.host;
  }
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port);
}

}  // namespace beige::cli
