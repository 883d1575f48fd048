#include "base/landlock.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif

namespace beige {

int LandlockVersion() {
  constexpr unsigned kAskVersion = 1;
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion);
  return version < 2 ? 0 : static_cast<int>(version);
}

std::string LandlockLacks(int version) {
  if (version >= 6) return "";
  // The host's abstract sockets first: nothing else of a cell keeps a tool from them. The mounts hold the rest.
  std::string lacks = "the host's abstract sockets are in reach of tools with network: host";
  if (version < 5) lacks += ", ioctls of devices are not refused";
  if (version < 3) lacks += ", nor is truncating";
  if (version < 2) lacks += ", nor is writing where only a mount forbids it";
  return lacks;
}

}  // namespace beige
