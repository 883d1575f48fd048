#ifndef BEIGE_GATEWAY_HTTP_QUERY_H_
#define BEIGE_GATEWAY_HTTP_QUERY_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/http/strict_json.h"

namespace beige {

// "a=1&b=x%20y" -> values by name. As strict as a body: an unknown or repeated name is an error that names it.
BodyResult<std::map<std::string, std::string>> DecodeQuery(std::string_view query, const std::vector<std::string>& known);

// A whole number up to `most`; 0 when absent.
BodyResult<size_t> NumberOf(const std::map<std::string, std::string>& query, const char* name, size_t most);

}  // namespace beige

#endif
