#include "cli/supervise/bound_exec.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "cli/report.h"

namespace beige::cli {

int ExecBound(pid_t parent, const std::vector<std::string>& argv) {
  if (::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return Report("internal", kFailed, "prctl PR_SET_PDEATHSIG: " + std::string(std::strerror(errno)));
  // The parent may have ended before the line above: then nobody sends the signal.
  if (::getppid() != parent) return Report("internal", kFailed, "the supervisor has ended");
  std::vector<char*> pointers;
  for (const auto& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  return Report("internal", kFailed, "start " + argv[0] + ": " + std::strerror(errno));
}

std::vector<std::string> BoundCommand(const std::vector<std::string>& argv) {
  std::vector<std::string> command = {ExecutableDir() + "/beige", "internal", "bound", std::to_string(::getpid())};
  command.insert(command.end(), argv.begin(), argv.end());
  return command;
}

}  // namespace beige::cli
