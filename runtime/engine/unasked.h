#ifndef BEIGE_RUNTIME_ENGINE_UNASKED_H_
#define BEIGE_RUNTIME_ENGINE_UNASKED_H_

#include <string>
#include <vector>

#include "runtime/engine/json_read.h"

namespace beige::runtime::engine {

// Every field of an inspected HostConfig that no create request of ours sets, that no comparison reads and that is not empty, as
// NAME=JSON: what a later engine can do more, and what others slip in, is refused without our knowing its name.
std::vector<std::string> UnaskedSettings(const Json& host_config);

}  // namespace beige::runtime::engine

#endif
