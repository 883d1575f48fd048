#include "gateway/tools/strays.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/files.h"

namespace beige {
namespace {
constexpr size_t kMaxCommandLine = 256u << 10;

bool IsStray(const std::string& directory, const std::string& data_root) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0 || info.st_uid != ::geteuid()) return false;
  const auto line = ReadFile(directory + "/cmdline", kMaxCommandLine);
  if (!line) return false;
  std::string_view rest = *line;
  const std::string_view program = rest.substr(0, rest.find('\0'));
  if (program != "bwrap" && !program.ends_with("/bwrap")) return false;
  while (!rest.empty()) {
    const std::string_view argument = rest.substr(0, rest.find('\0'));
    if (argument.starts_with(data_root)) return true;
    rest.remove_prefix(std::min(rest.size(), argument.size() + 1));
  }
  return false;
}
}  // namespace

void KillWithChildren(pid_t pid) {
  const std::string own = std::to_string(pid);
  ::kill(pid, SIGSTOP);
  siginfo_t info{};
  // Stopped or ended: either way it makes no more children.
  (void)::waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WEXITED | WNOWAIT);
  if (const auto children = ReadFile("/proc/" + own + "/task/" + own + "/children", 4096)) {
    for (std::string_view rest = *children; !rest.empty();) {
      const pid_t child = static_cast<pid_t>(std::strtol(rest.data(), nullptr, 10));
      if (child > 1) ::kill(child, SIGKILL);
      const size_t space = rest.find(' ');
      rest.remove_prefix(space == std::string_view::npos ? rest.size() : space + 1);
    }
  }
  ::kill(pid, SIGKILL);
}

size_t EndStrayCells(const std::string& data_root) {
  size_t ended = 0;
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ec)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos || !IsStray(entry.path().string(), data_root)) continue;
    if (::kill(static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10)), SIGKILL) == 0) ++ended;
  }
  return ended;
}

}  // namespace beige
