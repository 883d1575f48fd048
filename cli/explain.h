#ifndef BEIGE_CLI_EXPLAIN_H_
#define BEIGE_CLI_EXPLAIN_H_

#include <string>

#include "cli/globals.h"

namespace beige::cli {

// `beige explain agent.spec.sandbox`: type, description, default, limits and fields of one field of an Agent (or of gateway.yaml,
// operator.yaml and tool.yaml: gateway, operator, tool), out of the schemas that the programs validate with. A list is passed through:
// `agent.spec.tools.name`. 0; 3 with the nearest name when there is no such field.
int RunExplain(const Globals& globals, const std::string& path);

}  // namespace beige::cli

#endif
