#ifndef BEIGE_CLI_UP_H_
#define BEIGE_CLI_UP_H_

#include "cli/globals.h"

namespace beige::cli {

struct UpOptions {
  bool detach = false;
  int ready_fd = -1;  // internal: where the detached supervisor tells its starter how the start went
};

// `beige up`: makes the home's directories, starts and supervises beige-gateway and beige-operator until SIGTERM, SIGINT or SIGHUP.
int RunUp(const Globals& globals, const UpOptions& options);

struct DownOptions {
  bool delete_sandboxes = false;
};
int RunDown(const Globals& globals, const DownOptions& options);

}  // namespace beige::cli

#endif
