#include "gateway/cli_socket/exec_request.h"

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

Result<ExecRequest> DecodeExecRequest(std::string_view payload) {
  BEIGE_ASSIGN(const auto fields, v2::DecodeFields(payload));
  ExecRequest request;
  request.agent.namespace_ = "default";
  CallRequest& call = request.call;
  call.surface = Surface::kExec;
  call.actor = "local";
  call.kind = CallKind::kExec;
  call.tool = "exec";
  for (const auto& field : fields) {
    switch (field.tag) {
      case BGE_TAG_NAMESPACE: request.agent.namespace_ = field.value; break;
      case BGE_TAG_AGENT: request.agent.name = field.value; break;
      case BGE_TAG_ARG: call.args.emplace_back(field.value); break;
      case BGE_TAG_ENV: call.env.emplace_back(field.value); break;
      case BGE_TAG_CWD: call.cwd_claim = field.value; break;
      case BGE_TAG_SESSION: call.session_claim = field.value; break;
      case BGE_TAG_CHANNEL: call.channel_claim = field.value; break;
      case BGE_TAG_FLAGS: {
        BEIGE_ASSIGN(const uint32_t flags, v2::FieldU32(field.value));
        call.stdin_open = (flags & BGE_FLAG_STDIN) != 0;
        call.detached = (flags & BGE_FLAG_DETACHED) != 0;
        break;
      }
      case BGE_TAG_DEADLINE: {
        BEIGE_ASSIGN(const uint32_t ms, v2::FieldU32(field.value));
        call.timeout = std::chrono::milliseconds(ms);
        break;
      }
      case BGE_TAG_TTY: {
        BEIGE_ASSIGN(call.terminal, v2::DecodeSize(field.value));
        break;
      }
      default: break;  // of a newer CLI
    }
  }
  BEIGE_TRY(CheckExec(call));
  return request;
}

}  // namespace beige
