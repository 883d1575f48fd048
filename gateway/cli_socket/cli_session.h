#ifndef BEIGE_GATEWAY_CLI_SOCKET_CLI_SESSION_H_
#define BEIGE_GATEWAY_CLI_SOCKET_CLI_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/socket_stream.h"
#include "gateway/calls/call.h"
#include "protocol/v2_codec.h"

namespace beige {

class CliSession;
class Roster;

// One exec: frames of its call id to and from the call. A detached one outlives its session and then throws its output away.
struct CliExec final : CallSink {
  CliExec(CliSession* s, CallService& c, uint32_t n) : session(s), calls(c), number(n) {}
  void OnOutput(uint8_t stream, std::string_view bytes) override;
  void OnStdinCredit(uint32_t bytes) override;
  void OnExit(const CallResult& result) override;
  CliSession* session;
  CallService& calls;
  const uint32_t number;
  bool detached = false;
  CallService::Id id = 0;
  std::function<void()> on_over;  // of an orphan
};

// One connection on cli.sock: protocol v2, role CLI, any number of execs told apart by call id. Its end cancels those that are attached.
class CliSession final : public SocketStreamOwner {
 public:
  struct Owner {
    virtual ~Owner() = default;
    virtual void Ended(CliSession* session) = 0;                 // destroy it from the loop
    virtual void Adopt(std::unique_ptr<CliExec> detached) = 0;
  };
  CliSession(Loop& loop, WriteBatch& batch, UniqueFd fd, Roster& roster, CallService& calls, Owner& owner);
  ~CliSession() override;

 private:
  friend struct CliExec;
  void OnBytes(std::string_view bytes) override;
  void OnEof() override { End(); }
  void OnClosed() override { End(); }

  bool TakePreamble();
  void OnFrame(const v2::FrameReader::Frame& frame);
  void OnExec(uint32_t number, std::string_view payload);
  void SendExit(uint32_t number, uint8_t how, int32_t code, std::string_view text);
  void Refuse(std::string_view why);
  void Over(uint32_t number);
  void End();

  Roster& roster_;
  CallService& calls_;
  Owner& owner_;
  SocketStream stream_;
  std::string preamble_;
  bool agreed_ = false;
  bool ended_ = false;
  v2::FrameReader reader_;
  std::unordered_map<uint32_t, std::unique_ptr<CliExec>> execs_;
  std::vector<std::unique_ptr<CliExec>> over_;  // ended within their own callbacks
};

}  // namespace beige

#endif
