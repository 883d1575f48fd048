#include "gateway/calls/exec_rules.h"

#include <string>

namespace beige {
namespace {
Result<> CheckWord(const std::string& name, std::string_view word) {
  if (word.size() > BGE_MAX_ARG) {
    return Fail(Code::kInvalid, name + ": " + std::to_string(word.size()) + " bytes; the kernel's limit is " + std::to_string(BGE_MAX_ARG) + "; pass it on stdin");
  }
  if (word.find('\0') != std::string_view::npos) return Fail(Code::kInvalid, name + ": can't hold a NUL byte");
  return {};
}
}  // namespace

Result<> CheckExec(const CallRequest& call) {
  if (call.args.empty() || call.args[0].empty()) return Fail(Code::kInvalid, "command: want a program and its arguments, got nothing");
  size_t bytes = 0;
  for (size_t i = 0; i < call.args.size(); ++i) {
    BEIGE_TRY(CheckWord("command[" + std::to_string(i) + "]", call.args[i]));
    bytes += call.args[i].size() + 1;
  }
  for (const std::string& entry : call.env) {
    const size_t equals = entry.find('=');
    if (equals == 0 || equals == std::string::npos) return Fail(Code::kInvalid, "env: want NAME=VALUE, got \"" + entry.substr(0, 100) + "\"");
    BEIGE_TRY(CheckWord("env." + entry.substr(0, equals), entry));
    bytes += entry.size() + 1;
  }
  if (bytes > BGE_MAX_REQUEST) {
    return Fail(Code::kInvalid, "command: " + std::to_string(bytes) + " bytes with its environment; the limit is " + std::to_string(BGE_MAX_REQUEST));
  }
  return CheckWord("cwd", call.cwd_claim);
}

}  // namespace beige
