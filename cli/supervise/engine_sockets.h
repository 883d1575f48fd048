#ifndef BEIGE_CLI_SUPERVISE_ENGINE_SOCKETS_H_
#define BEIGE_CLI_SUPERVISE_ENGINE_SOCKETS_H_

#include "api/engine_sockets.h"

namespace beige::cli {

using beige::DirectoriesOf;
using beige::EngineSockets;

}  // namespace beige::cli

#endif
