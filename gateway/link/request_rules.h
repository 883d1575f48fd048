#ifndef BEIGE_GATEWAY_LINK_REQUEST_RULES_H_
#define BEIGE_GATEWAY_LINK_REQUEST_RULES_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace beige {

// What a request must keep to in either protocol, since no process could be started with it otherwise: no NUL, arguments of at most
// 128 KiB. Names the argument that is wrong.
Result<> CheckRequest(std::string_view tool, const std::vector<std::string>& args, std::initializer_list<std::string_view> claims);

}  // namespace beige

#endif
