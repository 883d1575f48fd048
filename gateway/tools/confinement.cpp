#include "gateway/tools/confinement.h"

#include <unistd.h>

#include <cstdlib>

#include "base/files.h"
#include "base/landlock.h"

namespace beige {

std::string DescribeConfinement(const std::string& bwrap) {
  if (bwrap.empty()) return "none: bubblewrap is not installed";
  const int landlock = LandlockVersion();
  return landlock == 0 ? "namespaces, seccomp; no Landlock in this kernel" : "namespaces, seccomp, Landlock " + std::to_string(landlock);
}

Result<> CheckConfinement(const std::string& bwrap, Confinement wanted) {
  if (bwrap.empty()) return Fail(Code::kUnavailable, "tool cells need bubblewrap, which is not installed; install the package bubblewrap");
  if (wanted == Confinement::kLandlock && LandlockVersion() == 0) {
    return Fail(Code::kUnavailable, "tools.minConfinement in gateway.yaml wants landlock, which this kernel does not have; boot with lsm=landlock or take namespaces");
  }
  return {};
}

std::string FindBubblewrap() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (true) {
    const std::string candidate = JoinPath(rest.substr(0, rest.find(':')), "bwrap");
    if (candidate.front() == '/' && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    const size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return "";
    rest.remove_prefix(colon + 1);
  }
}

}  // namespace beige
