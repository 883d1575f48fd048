#include "gateway/http/exec_reply.h"

#include "api/utf8.h"
#include "base/json_text.h"
#include "base/random.h"
#include "gateway/http/reply.h"

namespace beige {

http::Response ExecReply(const CallResult& result, const ExecOutput& output) {
  if (result.how == BGE_HOW_DENIED) return JsonError(403, "Denied", result.text);
  if (result.how == BGE_HOW_LOST) return JsonError(503, "Unavailable", result.text.empty() ? "the sandbox went away" : result.text);
  if (result.how == BGE_HOW_FAILED && result.code == 125) return JsonError(503, "Unavailable", result.text);

  std::string body = R"({"exitCode":)";
  body.reserve(output.out.size() + output.err.size() + 200);
  AppendNumber(body, result.ExitStatus());
  body += R"(,"signal":)";
  if (result.how == BGE_HOW_SIGNALED) {
    AppendNumber(body, result.code);
  } else {
    body += "null";
  }
  const bool text = FindInvalidUtf8(output.out) == std::string_view::npos && FindInvalidUtf8(output.err) == std::string_view::npos;
  const auto append = [&](std::string_view bytes) {
    if (text) {
      AppendJsonString(body, bytes);
    } else {
      body += '"';
      body += Base64Encode(bytes);
      body += '"';
    }
  };
  body += R"(,"stdout":)";
  append(output.out);
  body += R"(,"stderr":)";
  append(output.err);
  body += text ? R"(,"encoding":"utf8")" : R"(,"encoding":"base64")";
  if (output.truncated) body += R"(,"truncated":true)";
  if (!result.text.empty()) {
    body += R"(,"error":)";
    AppendJsonString(body, result.text);
  }
  body += '}';
  return JsonReply(std::move(body));
}

}  // namespace beige
