#include "gateway/calls/call.h"

namespace beige {

std::string_view SurfaceName(Surface surface) {
  switch (surface) {
    case Surface::kSocket: return "socket";
    case Surface::kLlm: return "llm";
    case Surface::kExec: return "exec";
    case Surface::kHttp: return "http";
    case Surface::kChannel: return "channel";
    case Surface::kSchedule: return "schedule";
  }
  return "unknown";
}

std::string_view CallKindName(CallKind kind) {
  switch (kind) {
    case CallKind::kTool: return "tool";
    case CallKind::kExec: return "exec";
    case CallKind::kCoreTool: return "core_tool";
    case CallKind::kLlm: return "llm";
  }
  return "unknown";
}

}  // namespace beige
