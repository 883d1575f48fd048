#ifndef BEIGE_GATEWAY_HTTP_REPLY_H_
#define BEIGE_GATEWAY_HTTP_REPLY_H_

#include <optional>
#include <string>
#include <string_view>

#include "api/agent_ref.h"
#include "base/result.h"
#include "http/http_server.h"

namespace beige {

// {"error":{"code":"NotFound","message":"...","field":"..."}}; `field` is left out when empty.
http::Response JsonError(int status, std::string_view code, std::string_view message, std::string_view field = "");

// The same from an Error: Invalid 400, NotFound 404, Conflict 409, Denied 403, Unavailable 503, Timeout 504, Exhausted 429, Internal 500.
http::Response JsonError(const Error& error, std::string_view field = "");

http::Response JsonReply(std::string body);

http::Response NoAgent(const AgentKey& agent);  // 404

// 415 for a body that is not called application/json: what a browser's form can send must not be taken for a request.
std::optional<http::Response> WantJson(const http::Request& request);

}  // namespace beige

#endif
