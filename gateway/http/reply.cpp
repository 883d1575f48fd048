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

}  // namespace beige
