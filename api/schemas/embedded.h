#ifndef BEIGE_API_SCHEMAS_EMBEDDED_H_
#define BEIGE_API_SCHEMAS_EMBEDDED_H_

#include <string_view>

namespace beige {

// Texts of the .yaml files beside this header: schemas in the dialect of the Agent CRD.
std::string_view MetadataSchema();  // of an Agent's metadata, which the CRD leaves to the API server
std::string_view GatewaySchema();
std::string_view OperatorSchema();
std::string_view ToolSchema();

}  // namespace beige

#endif
