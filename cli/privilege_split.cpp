#include "cli/privilege_split.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/files.h"

namespace beige::cli {
namespace {
// Numbers behind "Uid:" or "Groups:"; of four uids the second is the effective one.
std::vector<unsigned long> Numbers(const std::string& status, const std::string& field) {
  std::vector<unsigned long> numbers;
  const size_t at = status.find("\n" + field + ":");
  if (at == std::string::npos) return numbers;
  std::istringstream line(status.substr(at + field.size() + 2, status.find('\n', at + 1) - at - field.size() - 2));
  for (unsigned long number = 0; line >> number;) numbers.push_back(number);
  return numbers;
}

bool MayOpen(const ProcessIdentity& who, const std::string& socket) {
  struct stat info {};
  if (socket.empty() || ::stat(socket.c_str(), &info) != 0) return false;
  if (info.st_uid == who.uid) return (info.st_mode & 0200) != 0;
  const bool member = std::find(who.groups.begin(), who.groups.end(), info.st_gid) != who.groups.end();
  return (info.st_mode & (member ? 0020u : 0002u)) != 0;
}
}  // namespace

std::optional<ProcessIdentity> IdentityOf(pid_t pid) {
  const auto status = ReadFile("/proc/" + std::to_string(pid) + "/status");
  if (!status) return std::nullopt;
  const auto uids = Numbers(*status, "Uid");
  const auto gids = Numbers(*status, "Gid");
  if (uids.size() < 2 || gids.size() < 2) return std::nullopt;
  ProcessIdentity identity{static_cast<uid_t>(uids[1]), {static_cast<gid_t>(gids[1])}};
  for (const auto gid : Numbers(*status, "Groups")) identity.groups.push_back(static_cast<gid_t>(gid));
  return identity;
}

PrivilegeSplit SplitOf(const std::optional<OperatorInfo>& operator_, const std::optional<GatewayInfo>& gateway, bool supervised, const SupervisorInfo& up) {
  if (supervised && !up.privilege_split.empty()) return {up.privilege_split, up.privilege_reason};
  if (!operator_ || !gateway || !IsRunning(operator_->pid, kOperatorProcess) || !IsRunning(gateway->pid, kGatewayProcess)) return {"unknown", ""};
  const auto first = IdentityOf(operator_->pid);
  const auto second = IdentityOf(gateway->pid);
  if (!first || !second) return {"unknown", ""};
  if (second->uid == 0) return {"none", "the gateway runs as root; give it a user of its own"};
  if (first->uid == second->uid) {
    return {"none", "operator and gateway run as one user (uid " + std::to_string(second->uid) + ") and the gateway has no view of its own; start them with 'beige up', or give each a user"};
  }
  if (MayOpen(*second, operator_->engine_socket)) {
    return {"none", "the gateway's user (uid " + std::to_string(second->uid) + ") may open the engine's socket " + operator_->engine_socket + "; take it out of the socket's group"};
  }
  return {"uid", ""};
}

}  // namespace beige::cli
