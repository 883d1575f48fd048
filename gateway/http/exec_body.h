#ifndef BEIGE_GATEWAY_HTTP_EXEC_BODY_H_
#define BEIGE_GATEWAY_HTTP_EXEC_BODY_H_

#include <string>
#include <string_view>

#include "gateway/calls/call.h"
#include "gateway/http/strict_json.h"

namespace beige {

// {"command":["sh","-c","..."],"stdin":"...","stdinEncoding":"utf8"|"base64","timeout":"30s","env":{"A":"b"},"cwd":"sub/dir"}
struct ExecBody {
  CallRequest call;  // without agent and actor
  std::string stdin_bytes;
};

// Strict: an unknown or repeated field is an error that names it.
BodyResult<ExecBody> DecodeExecBody(std::string_view json);

}  // namespace beige

#endif
