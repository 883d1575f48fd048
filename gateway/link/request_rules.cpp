#include "gateway/link/request_rules.h"

#include "protocol/v2.h"

namespace beige {

Result<> CheckRequest(std::string_view tool, const std::vector<std::string>& args, std::initializer_list<std::string_view> claims) {
  constexpr std::string_view kNul("\0", 1);
  if (tool.find(kNul) != std::string_view::npos) return Fail(Code::kInvalid, "tool: a name can't hold a NUL byte");
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].size() > BGE_MAX_ARG) {
      return Fail(Code::kInvalid, "argument " + std::to_string(i + 1) + ": " + std::to_string(args[i].size()) + " bytes; the limit is " +
                                      std::to_string(BGE_MAX_ARG) + "; pass it on stdin");
    }
    if (args[i].find('\0') != std::string::npos) {
      return Fail(Code::kInvalid, "argument " + std::to_string(i + 1) + ": can't hold a NUL byte; pass it on stdin");
    }
  }
  for (const auto claim : claims) {
    if (claim.find(kNul) != std::string_view::npos) return Fail(Code::kInvalid, "cwd and session can't hold a NUL byte");
  }
  return {};
}

}  // namespace beige
