#include "gateway/app/gateway_info.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/files.h"

namespace beige {

GatewayInfoFile::GatewayInfoFile(const HomePaths& paths, uint16_t http_port, uint16_t metrics_port, std::string cells)
    : file_(paths.GatewayInfo()), http_port_(http_port), metrics_port_(metrics_port), cells_(std::move(cells)) {}

GatewayInfoFile::~GatewayInfoFile() { (void)RemoveFile(file_); }

Result<> GatewayInfoFile::Write(const std::vector<std::string>& problems) {
  const nlohmann::ordered_json info = {
      {"pid", ::getpid()}, {"version", BEIGE_VERSION}, {"httpPort", http_port_}, {"metricsPort", metrics_port_}, {"cells", cells_}, {"problems", problems}};
  return WriteFileAtomic(file_, info.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n", 0600);
}

}  // namespace beige
