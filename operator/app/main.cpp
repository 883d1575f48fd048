#include <sys/stat.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "api/paths.h"
#include "base/files.h"
#include "base/log.h"
#include "base/spawn.h"
#include "operator/app/operator.h"

namespace {
constexpr const char* kUsage =
    "usage: beige-operator [--home DIR] [--adopt] [--delete-sandboxes] [--debug] [--version]\n"
    "Makes one sandbox for every Agent of the home's agents.d and keeps it so. `beige up` starts it.\n"
    "  --home DIR          the home; else BEIGE_HOME, else ~/.beige\n"
    "  --adopt             note that a moved or copied home is the one that its sandboxes belong to, and end\n"
    "  --delete-sandboxes  remove the sandboxes of the home and end\n";

int Usage(const std::string& problem) {
  std::fprintf(stderr, "beige: beige-operator: %s\n%s", problem.c_str(), kUsage);
  return 2;
}
}  // namespace

int main(int argc, char** argv) {
  beige::OperatorOptions options;
  beige::LogLevel level = beige::LogLevel::kInfo;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--home") {
      if (++i >= argc) return Usage("--home wants a directory");
      options.home = argv[i];
    } else if (argument == "--adopt") {
      options.adopt = true;
    } else if (argument == "--delete-sandboxes") {
      options.delete_sandboxes = true;
    } else if (argument == "--debug") {
      level = beige::LogLevel::kDebug;
    } else if (argument == "--version") {
      std::printf("beige-operator %s\n", BEIGE_VERSION);
      return 0;
    } else if (argument == "--help" || argument == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    } else {
      return Usage("unknown argument " + argument);
    }
  }
  if (options.home.empty()) options.home = beige::DefaultHome();
  char here[4096];
  if (!::getcwd(here, sizeof here)) std::strcpy(here, "/");
  options.home = beige::AbsolutePath(here, options.home);
  ::umask(0077);
  beige::InitLog("operator", level);
  beige::Result<> done = beige::BecomeNonDumpable();
  if (done) done = beige::RunOperator(options);
  if (done) return 0;
  std::fprintf(stderr, "beige: beige-operator: %s\n", done.error().message.c_str());
  return 1;
}
