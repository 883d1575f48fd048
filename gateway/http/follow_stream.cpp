#include "gateway/http/follow_stream.h"

#include "gateway/http/reply.h"

namespace beige {

void FollowStream::OnEvent(const sessions::Event& event) {
  Begin();
  std::string bytes;
  AppendSse(bytes, event);
  if (!Send(std::move(bytes))) End(": you read too slowly; go on with the last id as Last-Event-ID\n\n");
}

void FollowStream::OnClosed(const Error& why) {
  if (!begun()) return Reply(SessionError(why));
  std::string line = why.message;  // of a comment: one line
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  End(": " + line + "\n\n");
}

void FollowStream::Stop() { OnClosed({Code::kUnavailable, "the gateway stops"}); }

}  // namespace beige
