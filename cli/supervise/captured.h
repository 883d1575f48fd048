#ifndef BEIGE_CLI_SUPERVISE_CAPTURED_H_
#define BEIGE_CLI_SUPERVISE_CAPTURED_H_

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace beige::cli {

struct Captured {
  int status = -1;   // exit status, 128+n when killed by signal n
  std::string text;  // of stdout and stderr, the first 16 KiB, without a newline at the end
};

// Runs a program to its end with this process's environment; argv[0] is looked up on PATH. Killed with Timeout when it takes too long.
// Unavailable when it can't be started.
Result<Captured> RunCaptured(const std::vector<std::string>& argv, std::chrono::milliseconds timeout);

}  // namespace beige::cli

#endif
