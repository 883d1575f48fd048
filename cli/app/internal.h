#ifndef BEIGE_CLI_APP_INTERNAL_H_
#define BEIGE_CLI_APP_INTERNAL_H_

#include <optional>

namespace beige::cli {

// `beige internal ...`: what the supervisor starts of itself. nullopt when the arguments name another command.
std::optional<int> RunInternal(int argc, char** argv);

}  // namespace beige::cli

#endif
