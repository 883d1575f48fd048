#ifndef BEIGE_GATEWAY_LINK_V1_CODEC_H_
#define BEIGE_GATEWAY_LINK_V1_CODEC_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace beige::v1 {

// Protocol v1, compatible with Beige: one JSON object a line each way.
//   {"type":"tool_request","tool":"kv","args":["get","a"],"cwd":"sub","sessionContext":{"sessionKey":"...","channel":"..."},"id":7}
//   {"type":"tool_response","id":7,"success":true,"output":"...","exitCode":0}

inline constexpr size_t kMaxLine = 1u << 20;

struct Request {
  std::string id;  // JSON text of the id, echoed; "" = none was given
  std::string tool;
  std::vector<std::string> args;
  std::string cwd;
  std::string session_key;
  std::string channel;
};

struct Malformed {
  std::string id;  // as far as it could be read
  std::string message;
};

// Fields that are not known are skipped, at any nesting up to 32. Known ones must have their type and come once.
tl::expected<Request, Malformed> Decode(std::string_view line);

// Each appends one line with its newline.
void AppendResult(std::string& out, std::string_view id, std::string_view output, std::string_view error_output, int exit_status,
                  std::string_view error);
void AppendError(std::string& out, std::string_view id, int exit_status, std::string_view error);

}  // namespace beige::v1

#endif
