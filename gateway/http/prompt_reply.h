#ifndef BEIGE_GATEWAY_HTTP_PROMPT_REPLY_H_
#define BEIGE_GATEWAY_HTTP_PROMPT_REPLY_H_

#include <string>

#include "gateway/http/prompt_stream.h"

namespace beige {

// POST .../prompt with "stream": false: one object when the turn has ended,
// {"session","prompt","text","stop":"end"|...|"aborted"|null,"usage":{...},"error":null|{"code","message","retryAfterMs"}}. `text` is what
// the model said last, after its last call; it and `usage` are there too when the turn failed. For Beige's own route {"response": text}, or 502 when the turn failed.
class PromptReply final : public PromptWait {
 public:
  using PromptWait::PromptWait;
  void Stop() override { OnClosed({Code::kUnavailable, "the gateway stops"}); }
  void OnClosed(const Error& why) override { Reply(SessionError(why)); }

 private:
  void Began(const sessions::Accepted&) override {}
  void Take(const sessions::Event& event, bool last) override;
  void NotWatched(const Error& why) override { OnClosed(why); }

  std::string text_;
  llm::Usage usage_;
};

}  // namespace beige

#endif
