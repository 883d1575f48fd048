#ifndef BEIGE_GATEWAY_APP_GATEWAY_INFO_H_
#define BEIGE_GATEWAY_APP_GATEWAY_INFO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "api/paths.h"
#include "base/result.h"

namespace beige {

// data/gateway/gateway.json, for `beige status` and the supervisor: {"pid","version","httpPort","metricsPort","cells","problems":[...]};
// "cells" says what tool cells are made of on this machine.
// There exactly while the gateway serves.
class GatewayInfoFile {
 public:
  GatewayInfoFile(const HomePaths& paths, uint16_t http_port, uint16_t metrics_port, std::string cells);
  ~GatewayInfoFile();  // removes it
  GatewayInfoFile(const GatewayInfoFile&) = delete;
  GatewayInfoFile& operator=(const GatewayInfoFile&) = delete;

  Result<> Write(const std::vector<std::string>& problems);

 private:
  const std::string file_;
  const uint16_t http_port_;
  const uint16_t metrics_port_;
  const std::string cells_;
};

}  // namespace beige

#endif
