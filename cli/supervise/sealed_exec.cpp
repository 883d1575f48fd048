#include "cli/supervise/sealed_exec.h"

#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "base/log.h"
#include "cli/report.h"

namespace beige::cli {
namespace {
// A flag that the mount has may be locked, so all of them are asked for again.
unsigned long FlagsOf(const struct statvfs& mount) {
  const std::pair<unsigned long, unsigned long> pairs[] = {{ST_NOSUID, MS_NOSUID},   {ST_NODEV, MS_NODEV},           {ST_NOEXEC, MS_NOEXEC},
                                                           {ST_NOATIME, MS_NOATIME}, {ST_NODIRATIME, MS_NODIRATIME}, {ST_RELATIME, MS_RELATIME}};
  unsigned long flags = 0;
  for (const auto& [has, wants] : pairs) {
    if ((mount.f_flag & has) != 0) flags |= wants;
  }
  return flags;
}

// Best effort: a gateway without it is still better off than one without its view.
void SealDevices() {
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty"}) {
    const std::string path = std::string("/dev/") + name;
    struct statvfs mount {};
    if (::statvfs(path.c_str(), &mount) != 0) continue;
    if (::mount(nullptr, path.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | FlagsOf(mount), nullptr) != 0) {
      LogWarn("a device node stays writable for the gateway", {{"path", path}, {"error", std::strerror(errno)}});
    }
  }
}

// From the bounding set first: root's next program would get back whatever is in there.
bool GiveUp(std::initializer_list<int> capabilities) {
  for (const int capability : capabilities) {
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return false;
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  for (const int capability : capabilities) {
    const auto bit = ~(1u << (capability % 32));
    auto& half = data[capability / 32];
    half.effective &= bit;
    half.permitted &= bit;
    half.inheritable &= bit;
  }
  return ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 && ::syscall(SYS_capset, &header, data) == 0;
}
}  // namespace

int ExecSealed(const std::vector<std::string>& argv) {
  SealDevices();
  if (!GiveUp({CAP_SYS_ADMIN, CAP_SETPCAP})) return Report("internal", kFailed, std::string("give up capabilities: ") + std::strerror(errno));
  std::vector<char*> pointers;
  for (const auto& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  return Report("internal", kFailed, "start " + argv[0] + ": " + std::strerror(errno));
}

std::vector<std::string> SealedCommand() { return {ExecutableDir() + "/beige", "internal", "sealed"}; }

}  // namespace beige::cli
