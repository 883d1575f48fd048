#include "gateway/cli_socket/exec_request.h"

#include "gateway/calls/exec_rules.h"

namespace beige {

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
