#ifndef BEIGE_API_ENGINE_SOCKETS_H_
#define BEIGE_API_ENGINE_SOCKETS_H_

#include <string>
#include <string_view>
#include <vector>

#include "api/load.h"

namespace beige {

// Every place where a container engine of this machine listens or would listen: the configured socket, DOCKER_HOST and CONTAINER_HOST,
// the usual ones of Docker, Podman, containerd and CRI-O (rootless ones too), and what /proc/net/unix shows listening under
// an engine's name. Sockets need not exist. `configured` may be "".
std::vector<std::string> EngineSockets(const std::string& configured, const EnvLookup& env, std::string_view proc_net_unix);

// Their directories that exist, real paths, each once, sorted.
std::vector<std::string> DirectoriesOf(const std::vector<std::string>& sockets);

}  // namespace beige

#endif
