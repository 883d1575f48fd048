#include "gateway/control/peer_check.h"

#include <string>
#include <vector>

#include "base/files.h"
#include "base/unix_socket.h"

namespace beige {
namespace {
// The pids of a process in each namespace from ours down: "NSpid:\t4711\t1".
Result<std::vector<std::string>> NamespacePids(const std::string& process) {
  BEIGE_ASSIGN(const std::string status, ReadFile("/proc/" + process + "/status", 64 << 10));
  const size_t at = status.find("\nNSpid:");
  if (at == std::string::npos) return Fail(Code::kInternal, "/proc/" + process + "/status has no NSpid");
  const std::string line = status.substr(at + 7, status.find('\n', at + 1) - at - 7);
  std::vector<std::string> pids;
  for (const char c : line) {
    if (c == '\t' || c == ' ') {
      pids.emplace_back();
    } else if (!pids.empty()) {
      pids.back() += c;
    }
  }
  return pids;
}
}  // namespace

Result<> CheckPeerIsInit(int fd) {
  BEIGE_ASSIGN(const PeerCredentials peer, PeerOf(fd));
  if (peer.pid == 0) return {};
  BEIGE_ASSIGN(const auto ours, NamespacePids("self"));
  const auto theirs = NamespacePids(std::to_string(peer.pid));
  if (!theirs) return Fail(Code::kDenied, "the peer is gone");
  if (theirs->size() != ours.size() + 1 || theirs->back() != "1") {
    return Fail(Code::kDenied, "the peer (pid " + std::to_string(peer.pid) + ") is not process 1 of a sandbox");
  }
  return {};
}

}  // namespace beige
