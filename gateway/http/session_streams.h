#ifndef BEIGE_GATEWAY_HTTP_SESSION_STREAMS_H_
#define BEIGE_GATEWAY_HTTP_SESSION_STREAMS_H_

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/loop.h"
#include "gateway/http/session_bodies.h"
#include "gateway/http/session_stream.h"

namespace beige {

// All clients that follow sessions. Core thread only. `keep_alive`: how long a stream may be silent before a comment is written.
class SessionStreams {
 public:
  explicit SessionStreams(Loop& loop, std::chrono::milliseconds keep_alive = std::chrono::seconds(15));
  ~SessionStreams();  // ends them: the gateway stops

  void Prompt(sessions::Sessions& sessions, PromptBody body, std::shared_ptr<http::Responder> responder);  // with agent and actor
  void Follow(sessions::Sessions& sessions, const AgentRef& agent, const std::string& session, const std::string& after, std::shared_ptr<http::Responder> responder);
  size_t open() const { return streams_.size(); }

 private:
  template <typename Stream>
  std::shared_ptr<Stream> Add(sessions::Sessions& sessions, const AgentRef& agent, const std::shared_ptr<http::Responder>& responder);
  void Over(uint64_t number);

  Loop& loop_;
  const std::chrono::milliseconds keep_alive_;
  Timer tick_;
  uint64_t last_ = 0;
  std::unordered_map<uint64_t, std::shared_ptr<SessionStream>> streams_;
  std::deque<std::shared_ptr<SessionStream>> over_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace beige

#endif
