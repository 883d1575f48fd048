#ifndef BEIGE_CLI_PROCESSES_H_
#define BEIGE_CLI_PROCESSES_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/paths.h"

namespace beige::cli {

// data/gateway/gateway.json, written by the gateway once it serves.
struct GatewayInfo {
  pid_t pid = 0;
  std::string version;
  int http_port = 0;
  int metrics_port = 0;
  std::vector<std::string> problems;
  std::string cells;  // what tool cells are made of on this machine
};

// data/operator/operator.json.
struct OperatorInfo {
  pid_t pid = 0;
  std::string version;
  int metrics_port = 0;
  std::string engine_type;
  std::string engine_version;
  std::string engine_api;
  std::string engine_socket;
  std::string engine_state;  // up | down | asking
  bool copied = false;       // a copy of a home, which touches nothing until `beige adopt`
  std::string notice;        // what a person should know: a copied home, a held removal
  std::vector<std::string> problems;
};

// run/up.json, written by the supervisor.
struct SupervisorInfo {
  pid_t pid = 0;
  std::string privilege_split;   // namespace | none
  std::string privilege_reason;  // why none
  pid_t gateway_pid = 0;
  pid_t operator_pid = 0;
  std::string start_time;
  bool operator==(const SupervisorInfo&) const = default;
};

// nullopt when the file is absent or not (yet) whole.
std::optional<GatewayInfo> ReadGatewayInfo(const HomePaths& paths);
std::optional<OperatorInfo> ReadOperatorInfo(const HomePaths& paths);
std::optional<SupervisorInfo> ReadSupervisorInfo(const HomePaths& paths);
std::string EncodeSupervisorInfo(const SupervisorInfo& info);

// A live process of that name (comm) has the pid; files of a crashed process name pids that others may have now.
bool IsRunning(pid_t pid, const std::string& name);

inline constexpr const char* kGatewayProcess = "beige-gateway";
inline constexpr const char* kOperatorProcess = "beige-operator";

}  // namespace beige::cli

#endif
