#ifndef BEIGE_OPERATOR_RECONCILE_PERMISSIONS_H_
#define BEIGE_OPERATOR_RECONCILE_PERMISSIONS_H_

#include <map>
#include <string>
#include <vector>

#include "api/agent.h"
#include "api/config.h"
#include "api/paths.h"

namespace beige {

struct Permissions {
  std::vector<std::string> refused;           // for a person; empty = all permitted
  std::map<std::string, std::string> sources; // volume name -> real host path
};

// What the operator's own configuration lets this Agent have: images by prefix, volumes beneath allowed roots. Paths are compared after
// links are resolved; what is never mounted, whatever the configuration says, is WhyNeverMounted's (host_places.h) to say.
Permissions CheckPermissions(const AgentSpec& spec, const OperatorConfig& config, const HomePaths& paths, const std::string& engine_socket);

}  // namespace beige

#endif
