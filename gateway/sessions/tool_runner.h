#ifndef BEIGE_GATEWAY_SESSIONS_TOOL_RUNNER_H_
#define BEIGE_GATEWAY_SESSIONS_TOOL_RUNNER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/agent_ref.h"
#include "api/config.h"
#include "base/loop.h"
#include "gateway/calls/call.h"
#include "gateway/llm/model.h"

namespace beige::sessions {

// What the model is told of a call, and what people see of it beside.
struct ToolOutcome {
  std::string text;                // valid UTF-8, bounded
  std::vector<llm::Image> images;  // of `read`
  bool is_error = false;           // denied, failed, unknown tool, arguments that don't fit: text says what to do
  std::string diff;                // of `write` and `patch`: unified lines, bounded; "" = none
};

// Runs the calls of a model: the core tools read, write, patch and exec, and the agent's granted tools by name. Each becomes a call of
// surface `llm` (kind core_tool or tool), judged and audited by Calls like any other. Core thread only.
class ToolRunner {
 public:
  ToolRunner(Loop& loop, CallService& calls);
  ~ToolRunner();  // cancels what runs; nothing is told
  ToolRunner(const ToolRunner&) = delete;
  ToolRunner& operator=(const ToolRunner&) = delete;

  // What is offered to the model: the agent's core tools, then its granted tools, each with the schema of its arguments. A granted tool that
  // has the name of a core tool is not offered.
  static std::vector<llm::Tool> Offered(const std::vector<std::string>& core_tools, const std::vector<std::shared_ptr<const ToolManifest>>& tools);

  struct Call {
    AgentRef agent;
    std::string session;  // BEIGE_SESSION_KEY of what runs; and in the audit
    llm::ToolCall call;
  };
  using Id = uint64_t;
  // `on_output` (stream 1 or 2, valid UTF-8 as it comes; only exec and granted tools) any number of times, then `on_done` once, which may
  // destroy this. Never from within Run.
  Id Run(Call call, std::function<void(int stream, std::string_view text)> on_output, std::function<void(ToolOutcome)> on_done);
  void Cancel(Id id);  // kills the whole tree; nothing is told after it

 private:
  class Running;
  // Where the next long output is kept: the last few are, since /tmp is memory.
  static constexpr uint32_t kLogs = 8;
  std::string NextLog(const std::string& agent_uid);

  // Of the long outputs that an agent's calls hold until they end; more goes by as if it were longer than one may be.
  static constexpr size_t kGathered = 32u << 20;
  std::shared_ptr<size_t> GatherOf(const std::string& agent_uid);

  std::map<std::string, uint32_t> logs_;  // of each agent, how many there were
  std::map<std::string, std::shared_ptr<size_t>> gather_;
  Loop& loop_;
  CallService& calls_;
  Id last_ = 0;
  std::map<Id, std::unique_ptr<Running>> running_;
};

}  // namespace beige::sessions

#endif
