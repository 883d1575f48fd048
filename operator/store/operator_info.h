#ifndef BEIGE_OPERATOR_STORE_OPERATOR_INFO_H_
#define BEIGE_OPERATOR_STORE_OPERATOR_INFO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "api/load.h"
#include "api/paths.h"
#include "base/result.h"

namespace beige {

// data/operator/operator.json, what `beige status` and `beige doctor` read of the operator.
struct OperatorInfo {
  int pid = 0;
  std::string version;
  int metrics_port = 0;
  std::string started_at;
  std::string engine_type, engine_version, engine_api, engine_socket;
  std::string engine_state;    // up | down | asking (not answered yet since the start)
  std::string engine_message;  // why it is down
  std::string gateway_state;   // synced | connected | absent
  std::string gateway_message;
  int64_t agents = 0;
  int64_t agents_ready = 0;
  std::string home_id;
  bool home_copied = false;         // nothing is adopted, started or removed until `beige adopt`
  std::string notice;               // held removal, copied home
  std::vector<Problem> problems;    // invalid files, a refused operator.yaml
  bool operator==(const OperatorInfo&) const = default;
};

std::string EncodeOperatorInfo(const OperatorInfo& info);
Result<> WriteOperatorInfo(const HomePaths& paths, const OperatorInfo& info);

}  // namespace beige

#endif
