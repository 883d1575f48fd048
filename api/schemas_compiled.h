#ifndef BEIGE_API_SCHEMAS_COMPILED_H_
#define BEIGE_API_SCHEMAS_COMPILED_H_

#include <string>

#include "api/problems.h"
#include "api/schema.h"
#include "api/yaml_node.h"

namespace beige {

// The embedded schemas, compiled at first use. They are part of the program, so one that does not compile is a bug and ends it with the
// reason; a test compiles them all.
const Schema& AgentSchema();  // openAPIV3Schema of the CRD
const Schema& AgentMetadataSchema();
const Schema& GatewayConfigSchema();
const Schema& OperatorConfigSchema();
const Schema& ToolManifestSchema();

// apiVersion and kind of a document. False when they are not those of `kind`: then a problem says so and nothing else is worth checking.
bool CheckHeader(const YamlNode& document, const std::string& path, const std::string& kind, Problems& problems);

}  // namespace beige

#endif
