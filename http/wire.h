#ifndef BEIGE_HTTP_WIRE_H_
#define BEIGE_HTTP_WIRE_H_

#include <string>
#include <string_view>

#include "http/http_server.h"

namespace beige::http {

enum class Framing { kLength, kChunked, kUntilClose };

// Status line and headers up to the empty line. Header values with CR or LF are left out rather than let through.
std::string EncodeHead(const Response& response, Framing framing, size_t length, bool keep_alive);
std::string EncodeChunk(std::string_view bytes);

// {"error":{"code":"Invalid","message":"..."}} with the content type set.
Response ErrorResponse(int status, std::string_view code, std::string_view message);

}  // namespace beige::http

#endif
