#ifndef BEIGE_API_DEFAULT_IMAGE_H_
#define BEIGE_API_DEFAULT_IMAGE_H_

#include <string>
#include <vector>

#include "api/config.h"

namespace beige {

// Image of agents that name none: the configured one, else localhost/beige-sandbox:<version>.
std::string DefaultImage(const OperatorConfig& config);

// Where the default image's file may lie, in the order in which it is looked for: said by BEIGE_IMAGE_TAR, beside the programs, in a build
// tree, or installed. The operator loads it into an engine that lacks the image.
std::vector<std::string> DefaultImageFiles();

}  // namespace beige

#endif
