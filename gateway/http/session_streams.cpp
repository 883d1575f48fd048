#include "gateway/http/session_streams.h"

#include <vector>

#include "gateway/http/follow_stream.h"
#include "gateway/http/prompt_reply.h"
#include "gateway/http/prompt_stream.h"

namespace beige {

SessionStreams::SessionStreams(Loop& loop, std::chrono::milliseconds keep_alive) : loop_(loop), keep_alive_(keep_alive), tick_(loop) {}

SessionStreams::~SessionStreams() {
  *alive_ = false;
  for (const auto& [number, stream] : streams_) {
    stream->OnOver(nullptr);
    stream->Stop();
  }
}

template <typename Stream>
std::shared_ptr<Stream> SessionStreams::Add(sessions::Sessions& sessions, const AgentRef& agent, const std::shared_ptr<http::Responder>& responder) {
  const uint64_t number = ++last_;
  auto stream = std::make_shared<Stream>(sessions, agent, responder);
  streams_.emplace(number, stream);
  stream->OnOver([this, number] { Over(number); });
  stream->OnWaiting([this, weak = std::weak_ptr<SessionStream>(stream)] {
    loop_.Post([weak] {
      if (const auto waiting = weak.lock()) waiting->Flush();
    });
  });
  responder->OnGone([weak = std::weak_ptr<SessionStream>(stream), alive = alive_, &loop = loop_] {
    loop.Post([weak, alive] {
      if (const auto left = weak.lock(); left && *alive) left->Left();
    });
  });
  // A third of the time apart, so that the silence is never much longer than that time.
  if (streams_.size() == 1) {
    tick_.StartEvery(keep_alive_ / 3, [this] {
      const SteadyTime now = std::chrono::steady_clock::now();
      for (const auto& [key, open] : streams_) open->Quiet(now, keep_alive_ * 2 / 3);
    });
  }
  return stream;
}

void SessionStreams::Prompt(sessions::Sessions& sessions, PromptBody body, std::shared_ptr<http::Responder> responder) {
  const AgentRef agent = body.prompt.agent;
  const bool stream = body.stream;
  std::shared_ptr<PromptWait> wait;
  if (stream) {
    wait = Add<PromptStream>(sessions, agent, responder);
  } else {
    wait = Add<PromptReply>(sessions, agent, responder);
  }
  wait->Start(std::move(body));
}

void SessionStreams::Follow(sessions::Sessions& sessions, const AgentRef& agent, const std::string& session, const std::string& after,
                            std::shared_ptr<http::Responder> responder) {
  Add<FollowStream>(sessions, agent, responder)->Start(session, after);
}

void SessionStreams::Over(uint64_t number) {
  const auto found = streams_.find(number);
  if (found == streams_.end()) return;
  over_.push_back(std::move(found->second));  // one of its functions is on the stack
  streams_.erase(found);
  if (streams_.empty()) tick_.Cancel();
  if (over_.size() > 1) return;
  loop_.Post([this, alive = alive_] {
    if (*alive) over_.clear();
  });
}

}  // namespace beige
