#ifndef BEIGE_GATEWAY_LINK_V1_SESSION_H_
#define BEIGE_GATEWAY_LINK_V1_SESSION_H_

#include <string>

#include "gateway/calls/call.h"
#include "gateway/link/connection.h"
#include "gateway/link/v1_codec.h"

namespace beige {

// Protocol v1 on one connection: one call at a time, answers in order. A peer that has closed its writing side still gets its answer.
class V1Session final : public Session, public CallSink {
 public:
  explicit V1Session(Connection& connection);
  ~V1Session() override;

  void OnBytes(std::string_view bytes) override;
  void OnEof() override;
  void OnDrained() override;
  void OnTurn() override;
  void Shut() override;

 private:
  void OnOutput(uint8_t stream, std::string_view bytes) override;
  void OnStdinCredit(uint32_t) override {}
  void OnExit(const CallResult& result) override;

  // Takes whole lines off the front of `bytes`; returns how many bytes were used.
  size_t Take(std::string_view bytes);
  void TakeInput();
  void Request(std::string_view line);
  void Fail(std::string_view id, std::string_view message);
  void Account();  // tells the link what is held here
  void MaybeDone();

  Connection& connection_;
  std::string input_;        // what is not processed yet
  size_t searched_ = 0;      // of input_, without a newline
  std::string id_;           // of the running request, JSON text
  CallService::Id call_ = 0;
  std::string out_;
  std::string err_;
  uint32_t uncredited_[2] = {0, 0};
  size_t held_ = 0;
  size_t unsent_ = 0;        // of a large answer
  bool paid_ = false;        // the next request is taken from the share already
  bool running_ = false;
  bool taking_ = false;
  bool later_ = false;
  bool over_budget_ = false;
  bool eof_ = false;
  bool ended_ = false;
};

}  // namespace beige

#endif
