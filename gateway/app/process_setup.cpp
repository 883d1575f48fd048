#include "gateway/app/process_setup.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/spawn.h"
#include "gateway/roster/descriptor_budget.h"

namespace beige {

Result<> SetUpProcess() {
  ::signal(SIGPIPE, SIG_IGN);
  ::umask(077);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < static_cast<rlim_t>(kLeastFiles)) {
      return Fail(Code::kExhausted, "the limit of open files is " + std::to_string(limit.rlim_max) + ": want at least " + std::to_string(kLeastFiles) +
                                        "; raise it with ulimit -n or LimitNOFILE=");
    }
  }
  return BecomeNonDumpable();
}

Result<> PrepareDirectories(const HomePaths& paths) {
  if (!Exists(paths.home())) return Fail(Code::kNotFound, "home " + paths.home() + ": no such directory; make one with 'beige init'");
  for (const std::string& directory : {paths.DataGateway(), paths.RunDir(), paths.LogsDir()}) BEIGE_TRY(MakeDirs(directory, 0700));
  return {};
}

}  // namespace beige
