#ifndef BEIGE_GATEWAY_HTTP_OPENAPI_H_
#define BEIGE_GATEWAY_HTTP_OPENAPI_H_

#include <string_view>

namespace beige {

// The API's description (OpenAPI 3.0) as JSON text; GET /v1/openapi.json.
std::string_view OpenApiDocument();

}  // namespace beige

#endif
