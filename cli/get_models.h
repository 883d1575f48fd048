#ifndef BEIGE_CLI_GET_MODELS_H_
#define BEIGE_CLI_GET_MODELS_H_

#include "cli/get.h"

namespace beige::cli {

// `beige get models`: what gateway.yaml names, and how each stands, as the running gateway tells.
int GetModels(const Globals& globals, const GetOptions& options);

}  // namespace beige::cli

#endif
