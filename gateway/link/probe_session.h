#ifndef BEIGE_GATEWAY_LINK_PROBE_SESSION_H_
#define BEIGE_GATEWAY_LINK_PROBE_SESSION_H_

#include "gateway/link/connection.h"
#include "protocol/v2_codec.h"

namespace beige {

// PID 1's round trip: one nonce in, the same out.
class ProbeSession final : public Session {
 public:
  explicit ProbeSession(Connection& connection) : connection_(connection) {}
  void OnBytes(std::string_view bytes) override;
  void OnEof() override { connection_.Close(); }
  void Shut() override {}

 private:
  Connection& connection_;
  v2::FrameReader reader_{64};
};

}  // namespace beige

#endif
