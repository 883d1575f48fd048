#ifndef BEIGE_GATEWAY_HTTP_EXEC_REPLY_H_
#define BEIGE_GATEWAY_HTTP_EXEC_REPLY_H_

#include <string>

#include "gateway/calls/call.h"
#include "http/http_server.h"

namespace beige {

struct ExecOutput {
  std::string out;
  std::string err;
  bool truncated = false;  // more came than is kept
};

// {"exitCode":0,"signal":null,"stdout":"...","stderr":"...","encoding":"utf8"}; both streams as base64 when one is not UTF-8;
// "truncated":true and "error":"..." only when they say something. 403 when denied, 503 when the sandbox or gateway went away: no exit
// status is made up for those.
http::Response ExecReply(const CallResult& result, const ExecOutput& output);

}  // namespace beige

#endif
