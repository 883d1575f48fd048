#ifndef BEIGE_GATEWAY_PUBLISH_README_H_
#define BEIGE_GATEWAY_PUBLISH_README_H_

#include <string>

#include "api/config.h"

namespace beige {

// packages/<tool>/README.md: name, description and usage; nothing of command, environment or secrets.
std::string ToolReadme(const ToolManifest& tool);

}  // namespace beige

#endif
