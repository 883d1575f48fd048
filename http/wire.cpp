#include "http/wire.h"

#include <ctime>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace beige::http {
namespace {
std::string_view ReasonPhrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Payload Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Status";
  }
}

void AppendHeader(std::string& out, std::string_view name, std::string_view value) {
  if (name.find_first_of("\r\n:") != std::string_view::npos || value.find_first_of("\r\n") != std::string_view::npos) return;
  out.append(name).append(": ").append(value).append("\r\n");
}

std::string HttpDate() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[40];
  const size_t n = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc);
  return std::string(text, n);
}
}  // namespace

std::string EncodeHead(const Response& response, Framing framing, size_t length, bool keep_alive) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " ";
  out.append(ReasonPhrase(response.status)).append("\r\n");
  AppendHeader(out, "Date", HttpDate());
  if (!response.content_type.empty()) AppendHeader(out, "Content-Type", response.content_type);
  for (const auto& [name, value] : response.headers) AppendHeader(out, name, value);
  const bool bodiless = response.status == 204 || response.status == 304;  // RFC 9110: without a length
  if (framing == Framing::kLength && !bodiless) AppendHeader(out, "Content-Length", std::to_string(length));
  if (framing == Framing::kChunked) AppendHeader(out, "Transfer-Encoding", "chunked");
  AppendHeader(out, "X-Content-Type-Options", "nosniff");
  AppendHeader(out, "Connection", keep_alive ? "keep-alive" : "close");
  return out += "\r\n";
}

std::string EncodeChunk(std::string_view bytes) {
  char size[20];
  const int n = std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  std::string out(size, static_cast<size_t>(n));
  return out.append(bytes).append("\r\n");
}

Response ErrorResponse(int status, std::string_view code, std::string_view message) {
  const nlohmann::ordered_json body = {{"error", {{"code", code}, {"message", message}}}};
  Response response;
  response.status = status;
  response.body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  return response;
}

}  // namespace beige::http
