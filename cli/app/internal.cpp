#include "cli/app/internal.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "cli/report.h"
#include "cli/supervise/bound_exec.h"
#include "cli/supervise/mapped_exec.h"
#include "cli/supervise/sealed_exec.h"
#include "cli/supervise/view_check.h"

namespace beige::cli {

std::optional<int> RunInternal(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments[0] != "internal") return std::nullopt;
  if (arguments.size() >= 4 && arguments[1] == "bound") {
    return ExecBound(static_cast<pid_t>(std::atoi(arguments[2].c_str())), {arguments.begin() + 3, arguments.end()});
  }
  if (arguments.size() >= 3 && arguments[1] == "mapped") return ExecMapped({arguments.begin() + 2, arguments.end()});
  if (arguments.size() >= 3 && arguments[1] == "sealed") return ExecSealed({arguments.begin() + 2, arguments.end()});
  if (arguments.size() == 4 && arguments[1] == "check-view" && arguments[2] == "--home") {
    const auto leaks = CheckView(HomePaths(arguments[3]), ProcessEnv());
    for (const auto& leak : leaks) PrintLine(leak);
    return leaks.empty() ? kDone : kViewLeaks;
  }
  return Report("internal", kUsage, "only the supervisor calls this");
}

}  // namespace beige::cli
