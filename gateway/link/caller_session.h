#ifndef BEIGE_GATEWAY_LINK_CALLER_SESSION_H_
#define BEIGE_GATEWAY_LINK_CALLER_SESSION_H_

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "gateway/calls/call.h"
#include "gateway/link/connection.h"
#include "protocol/v2_codec.h"

namespace beige {

// Protocol v2, role caller: any number of calls on one connection, told apart by the call id that the peer chose. Credit is relayed.
class CallerSession final : public Session {
 public:
  explicit CallerSession(Connection& connection);
  ~CallerSession() override;

  void OnBytes(std::string_view bytes) override;
  void OnEof() override;
  void OnTurn() override;
  void Shut() override;

 private:
  // Where the frames of one call come from and go to.
  struct Stream final : CallSink {
    Stream(CallerSession& s, uint32_t n) : session(s), number(n) {}
    void OnOutput(uint8_t stream, std::string_view bytes) override;
    void OnStdinCredit(uint32_t bytes) override;
    void OnExit(const CallResult& result) override;
    CallerSession& session;
    const uint32_t number;
    CallService::Id id = 0;
  };

  void TakeFrames();
  bool OnFrame(const v2::FrameReader::Frame& frame);  // false: the connection has been closed
  bool OnCall(uint32_t number, std::string_view payload);
  bool Refuse(std::string_view why);
  void SendExit(uint32_t number, uint8_t how, int32_t code, std::string_view text);

  Connection& connection_;
  v2::FrameReader reader_;
  std::unordered_map<uint32_t, std::unique_ptr<Stream>> calls_;
  std::vector<std::unique_ptr<Stream>> over_;  // ended within their own callbacks
  size_t held_ = 0;
  bool later_ = false;  // frames wait for their turn
  bool eof_ = false;
  bool shut_ = false;
};

}  // namespace beige

#endif
