#ifndef BEIGE_GATEWAY_CALLS_CALL_H_
#define BEIGE_GATEWAY_CALLS_CALL_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/agent_ref.h"
#include "protocol/v2_codec.h"

namespace beige {

// Which way a call came in, and what it is. Names as in audit records. A request to a model (llm) is judged and recorded like the others,
// by who makes it: Calls runs none.
enum class Surface { kSocket, kLlm, kExec, kHttp, kChannel, kSchedule };
enum class CallKind { kTool, kExec, kCoreTool, kLlm };
inline constexpr size_t kCallKinds = 4;
std::string_view SurfaceName(Surface surface);
std::string_view CallKindName(CallKind kind);

// One call, whichever way it came. `agent` and `actor` are facts (from the link, the socket's owner or the token); what is named
// *_claim came from the payload and is recorded as such, never trusted.
struct CallRequest {
  AgentRef agent;
  Surface surface = Surface::kSocket;
  std::string actor = "agent";  // agent | local | name of the token
  CallKind kind = CallKind::kTool;
  std::string tool;             // "exec" for kind exec; read, write, patch or exec for core_tool; provider/model for llm
  std::vector<std::string> args;
  std::vector<std::string> argv;  // core_tool only: the command that runs for it in the sandbox; `args` is what was asked, for the audit
  std::string cwd_claim;
  std::string session_claim;
  std::string channel_claim;
  std::string unfit;            // not empty: judged and recorded, then refused with these words, for what was asked makes no sense
  bool stdin_open = false;      // Stdin/StdinEof will follow
  bool detached = false;        // exec only: outlives its caller and the gateway
  std::optional<v2::TerminalSize> terminal;    // exec only
  std::chrono::milliseconds timeout{0};        // 0 = the tool's own, none for exec and core_tool
  std::vector<std::string> env;                // exec and core_tool only: KEY=VALUE
};

struct CallResult {
  uint8_t how = BGE_HOW_EXITED;  // BGE_HOW_*
  int32_t code = 0;
  std::string text;              // for a person; what to do
  std::string call_id;           // of the audit records; "" if none was written
  // The exit status a shell would see: 128+n for signals, 124 timeout, 126/127 denied, 125 lost.
  int ExitStatus() const { return how == BGE_HOW_SIGNALED ? 128 + code : code; }
};

// Who waits for a call. All on the core thread. Nothing comes after OnExit, nor after Calls::Cancel returned.
class CallSink {
 public:
  virtual ~CallSink() = default;
  virtual void OnOutput(uint8_t stream, std::string_view bytes) = 0;  // 1 stdout, 2 stderr; at most the credit given
  virtual void OnStdinCredit(uint32_t bytes) = 0;                     // beyond the initial window
  virtual void OnExit(const CallResult& result) = 0;
};

// What every way in uses to make calls, whoever decides about them: Calls implements it. Core thread only.
// The sink must outlive the call or Cancel it.
class CallService {
 public:
  using Id = uint64_t;  // 0 = already over (denied): OnExit ran before Start returned

  virtual ~CallService() = default;
  virtual Id Start(CallRequest request, CallSink* sink) = 0;
  virtual void Stdin(Id id, std::string_view bytes) = 0;  // at most the window; more ends the call as a protocol error
  virtual void StdinEof(Id id) = 0;
  virtual void Signal(Id id, int number) = 0;
  virtual void Resize(Id id, v2::TerminalSize size) = 0;
  virtual void Credit(Id id, uint8_t stream, uint32_t bytes) = 0;  // the sink has consumed output
  virtual void Cancel(Id id) = 0;  // the caller went away: kills the whole tree, outcome cancelled; a detached exec goes on
  virtual size_t InFlight(std::string_view agent_uid) const = 0;
};

}  // namespace beige

#endif
