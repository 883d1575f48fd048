#include "operator/app/adopt.h"

#include <cstdio>

#include "base/files.h"
#include "operator/store/home_id.h"

namespace beige {

Result<> AdoptHome(const HomePaths& paths) {
  if (!Exists(paths.DataOperator() + "/home.json")) {
    std::printf("%s has never been up: nothing to adopt\n", paths.home().c_str());
    return {};
  }
  BEIGE_ASSIGN(const MachineFacts machine, ReadMachineFacts(paths));
  BEIGE_ASSIGN(const HomeId before, LoadHomeId(paths, machine, false));
  if (!before.copied) {
    std::printf("%s is no copy: nothing to adopt\n", paths.home().c_str());
    return {};
  }
  BEIGE_ASSIGN(const HomeId now, LoadHomeId(paths, machine, true));
  // What the sandboxes were made with names directories of the home that they were made in. Without it they are judged by what is wanted here
  // and made anew where they differ, instead of waiting for a PID 1 that speaks to the other home's gateway.
  BEIGE_TRY(RemoveTree(paths.DataOperator() + "/sandboxes"));
  std::printf("adopted: the sandboxes of home id %s belong to %s now; never run the original again\n", now.id.c_str(), paths.home().c_str());
  return {};
}

}  // namespace beige
