#ifndef BEIGE_GATEWAY_HTTP_FOLLOW_STREAM_H_
#define BEIGE_GATEWAY_HTTP_FOLLOW_STREAM_H_

#include "gateway/http/session_stream.h"

namespace beige {

// GET .../sessions/ID/events: everything that happens, until the client leaves.
class FollowStream final : public SessionStream {
 public:
  using SessionStream::SessionStream;
  void Start(const std::string& session, const std::string& after) { Watch(session, after); }
  void Stop() override;
  void OnEvent(const sessions::Event& event) override;
  void OnClosed(const Error& why) override;

 private:
  void Watched() override { Begin(); }
  void NotWatched(const Error& why) override { OnClosed(why); }
};

}  // namespace beige

#endif
