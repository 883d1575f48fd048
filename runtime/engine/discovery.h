#ifndef BEIGE_RUNTIME_ENGINE_DISCOVERY_H_
#define BEIGE_RUNTIME_ENGINE_DISCOVERY_H_

#include <string>

#include "base/result.h"

namespace beige::runtime::engine {

// Where an engine may be found; each "" when not known.
struct EngineHints {
  std::string configured;   // engine.socket, a path or unix:///path; taken as it is
  std::string docker_host;  // DOCKER_HOST
  std::string system_socket = "/var/run/docker.sock";
  std::string runtime_dir;  // XDG_RUNTIME_DIR: rootless Docker listens at docker.sock beneath it
};

// Path of the Docker socket to use: the first of the hints that is set (configured, DOCKER_HOST) or exists (the others).
// Invalid for a value that is not a Unix socket, Unavailable when there is none. Does not connect.
Result<std::string> FindEngineSocket(const EngineHints& hints);

// The same with this process's environment.
Result<std::string> FindEngineSocket(const std::string& configured);

}  // namespace beige::runtime::engine

#endif
