#ifndef BEIGE_GATEWAY_HTTP_EXEC_BODY_H_
#define BEIGE_GATEWAY_HTTP_EXEC_BODY_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "gateway/calls/call.h"

namespace beige {

// {"command":["sh","-c","..."],"stdin":"...","stdinEncoding":"utf8"|"base64","timeout":"30s","env":{"A":"b"},"cwd":"sub/dir"}
struct ExecBody {
  CallRequest call;  // without agent and actor
  std::string stdin_bytes;
};

struct BodyError {
  std::string message;
  std::string field;
};

// Strict: an unknown or repeated field is an error that names it.
tl::expected<ExecBody, BodyError> DecodeExecBody(std::string_view json);

}  // namespace beige

#endif
