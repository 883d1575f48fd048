#ifndef BEIGE_GATEWAY_SESSIONS_CORE_TOOLS_H_
#define BEIGE_GATEWAY_SESSIONS_CORE_TOOLS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace beige::sessions {

// One call of a model, its arguments checked: what is recorded, and what runs in the sandbox for it. No path is ever opened or built here;
// that is done by `beige-sandbox core` inside.
struct ToolPlan {
  std::vector<std::string> args;  // for the audit: "path=notes.txt"; of a granted tool its own
  std::vector<std::string> argv;  // of a core tool
  std::string input;              // for stdin
  bool has_input = false;
  std::chrono::milliseconds timeout{0};  // 0 = the tool's own
  std::string path;               // of read, write and patch
  std::string old_text, new_text; // of patch; new_text is write's content as well
  int64_t offset = 1;             // of read
};

// Limits that the arguments have, and the command in the sandbox once more (core.h there).
inline constexpr size_t kMaxFileText = 10u << 20;
inline constexpr int64_t kReadLines = 2000;
inline constexpr std::chrono::seconds kFileTimeout{30};
inline constexpr std::chrono::seconds kExecTimeout{120};
inline constexpr std::chrono::seconds kLongestExec{3600};

bool IsCoreTool(std::string_view name);
std::string_view CoreToolDescription(std::string_view name);
std::string_view CoreToolSchema(std::string_view name);  // JSON schema of its arguments
std::string_view GrantedToolSchema();

// `arguments` is what the model wrote, a JSON object. Invalid, naming the field and what was wanted.
Result<ToolPlan> PlanCoreTool(std::string_view name, std::string_view arguments);
Result<ToolPlan> PlanGrantedTool(std::string_view arguments);
// Keeps a long output where the agent can read it.
ToolPlan PlanLog(std::string path, size_t bytes);  // the input is the caller's

}  // namespace beige::sessions

#endif
