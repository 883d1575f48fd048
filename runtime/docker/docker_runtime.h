#ifndef BEIGE_RUNTIME_DOCKER_DOCKER_RUNTIME_H_
#define BEIGE_RUNTIME_DOCKER_DOCKER_RUNTIME_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/sandbox.h"

namespace beige::runtime::docker {

struct DockerOptions {
  std::string socket;  // path; see engine::FindEngineSocket
  // Told once per request: operation ("create", "start", "inspect", ...), HTTP status or error code, seconds. For metrics.
  std::function<void(std::string_view operation, std::string_view code, double seconds)> observer;
  std::chrono::milliseconds deadline{30'000};        // of plain requests
  std::chrono::milliseconds start_deadline{60'000};  // of create, start and remove: a loaded engine takes seconds
};

// Sandboxes as containers of a Docker engine (API 1.41 or newer) on its Unix socket. Never fails and never connects: the first call does, and
// an engine that comes later is found then. One thread. Subscriptions must go before it.
std::unique_ptr<SandboxRuntime> MakeDockerRuntime(DockerOptions options);

}  // namespace beige::runtime::docker

#endif
