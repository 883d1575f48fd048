#ifndef BEIGE_CLI_DOCTOR_ENGINE_PROBE_H_
#define BEIGE_CLI_DOCTOR_ENGINE_PROBE_H_

#include <chrono>
#include <string>

#include "base/result.h"

namespace beige::cli {

struct UnixHttpAnswer {
  int status = 0;
  std::string body;
};

// One plain GET (HTTP/1.0, so that the answer ends with the connection) on a Unix socket. Denied when the socket may not be opened,
// Unavailable when nobody listens or it ends without an answer, Timeout. The operator's client of engines is not used: doctor speaks also of
// engines that hang or that Beige can't drive, and the CLI is to start without libcurl.
Result<UnixHttpAnswer> GetOverUnix(const std::string& socket, const std::string& path, std::chrono::milliseconds timeout);

struct EngineFacts {
  std::string type;        // docker | podman
  std::string version;
  std::string api;
  bool rootless = false;
  bool seccomp = false;
  int cgroup = 0;          // 1 or 2; 0 = not said
  bool memory_limit = false;
  bool cpu_limit = false;
  bool pids_limit = false;
  std::string runtime;     // default OCI runtime
};

// Asks /version and /info.
Result<EngineFacts> ProbeEngine(const std::string& socket, std::chrono::milliseconds timeout);

// Whether the engine has the image.
Result<bool> HasImage(const std::string& socket, const std::string& image, std::chrono::milliseconds timeout);

}  // namespace beige::cli

#endif
