#ifndef BEIGE_GATEWAY_APP_GATEWAY_INFO_H_
#define BEIGE_GATEWAY_APP_GATEWAY_INFO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "api/paths.h"
#include "base/result.h"

namespace beige {

// data/gateway/gateway.json, for `beige status` and the supervisor: {"pid","version","httpPort","metricsPort","problems":[...]}.
// There exactly while the gateway serves.
class GatewayInfoFile {
 public:
  GatewayInfoFile(const HomePaths& paths, uint16_t http_port, uint16_t metrics_port);
  ~GatewayInfoFile();  // removes it
  GatewayInfoFile(const GatewayInfoFile&) = delete;
  GatewayInfoFile& operator=(const GatewayInfoFile&) = delete;

  Result<> Write(const std::vector<std::string>& problems);

 private:
  const std::string file_;
  const uint16_t http_port_;
  const uint16_t metrics_port_;
};

}  // namespace beige

#endif
