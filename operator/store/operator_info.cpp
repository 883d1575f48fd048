#include "operator/store/operator_info.h"

#include <nlohmann/json.hpp>

#include "base/files.h"

namespace beige {
using nlohmann::json;

std::string EncodeOperatorInfo(const OperatorInfo& info) {
  json problems = json::array();
  for (const Problem& p : info.problems) {
    problems.push_back({{"file", p.file}, {"line", p.line}, {"column", p.column}, {"path", p.path}, {"message", p.message}, {"reason", p.reason}});
  }
  const json all = {
      {"pid", info.pid},
      {"version", info.version},
      {"startedAt", info.started_at},
      {"metricsPort", info.metrics_port},
      {"homeId", info.home_id},
      {"homeCopied", info.home_copied},
      {"engine",
       {{"type", info.engine_type}, {"version", info.engine_version}, {"api", info.engine_api}, {"socket", info.engine_socket},
        {"state", info.engine_state}, {"message", info.engine_message}}},
      {"gateway", {{"state", info.gateway_state}, {"message", info.gateway_message}}},
      {"agents", info.agents},
      {"agentsReady", info.agents_ready},
      {"notice", info.notice},
      {"problems", problems},
  };
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<> WriteOperatorInfo(const HomePaths& paths, const OperatorInfo& info) {
  BEIGE_TRY(MakeDirs(paths.DataOperator(), 0700));
  return WriteFileAtomic(paths.OperatorInfo(), EncodeOperatorInfo(info), 0600);
}

}  // namespace beige
