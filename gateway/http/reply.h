#ifndef BEIGE_GATEWAY_HTTP_REPLY_H_
#define BEIGE_GATEWAY_HTTP_REPLY_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/http_server.h"

namespace beige {

// {"error":{"code":"NotFound","message":"...","field":"..."}}; `field` is left out when empty.
http::Response JsonError(int status, std::string_view code, std::string_view message, std::string_view field = "");

// The same from an Error: Invalid 400, NotFound 404, Conflict 409, Denied 403, Unavailable 503, Timeout 504, Exhausted 429, Internal 500.
http::Response JsonError(const Error& error, std::string_view field = "");

http::Response JsonReply(std::string body);

}  // namespace beige

#endif
