#include "gateway/http/reply.h"

#include "base/json_text.h"

namespace beige {
namespace {
int StatusOf(Code code) {
  switch (code) {
    case Code::kInvalid: return 400;
    case Code::kNotFound: return 404;
    case Code::kConflict: return 409;
    case Code::kDenied: return 403;
    case Code::kUnavailable: return 503;
    case Code::kTimeout: return 504;
    case Code::kExhausted: return 429;
    case Code::kInternal: return 500;
  }
  return 500;
}
}  // namespace

http::Response JsonError(int status, std::string_view code, std::string_view message, std::string_view field) {
  http::Response response;
  response.status = status;
  response.body = R"({"error":{"code":)";
  AppendJsonString(response.body, code);
  response.body += R"(,"message":)";
  AppendJsonString(response.body, message);
  if (!field.empty()) {
    response.body += R"(,"field":)";
    AppendJsonString(response.body, field);
  }
  response.body += "}}\n";
  return response;
}

http::Response JsonError(const Error& error, std::string_view field) {
  return JsonError(StatusOf(error.code), CodeName(error.code), error.message, field);
}

http::Response JsonReply(std::string body) {
  http::Response response;
  response.body = std::move(body) + "\n";
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

http::Response NoAgent(const AgentKey& agent) { return JsonError(404, "NotFound", "no agent " + agent.name + " in namespace " + agent.namespace_); }

std::optional<http::Response> WantJson(const http::Request& request) {
  const std::string_view given = request.Header("content-type");
  std::string lower;
  for (const char c : given.substr(0, given.find(';'))) {
    if (c != ' ') lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  if (lower == "application/json") return std::nullopt;
  return JsonError(415, "Invalid", "Content-Type: want application/json, got \"" + std::string(given.substr(0, 100)) + "\"", "Content-Type");
}

}  // namespace beige
