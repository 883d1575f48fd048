#ifndef BEIGE_CRDS_EMBEDDED_H_
#define BEIGE_CRDS_EMBEDDED_H_

#include <string_view>

namespace beige {

// Text of agents.beige.dev.yaml as it was when the program was built.
std::string_view AgentCrd();

}  // namespace beige

#endif
