#ifndef BEIGE_GATEWAY_LLM_ATTEMPT_H_
#define BEIGE_GATEWAY_LLM_ATTEMPT_H_

#include <deque>
#include <memory>
#include <string>

#include "api/llm_config.h"
#include "base/clock.h"
#include "base/loop.h"
#include "gateway/llm/codec.h"
#include "http/client/curl_loop.h"

namespace beige::llm {

// What one request to one provider needs.
struct AttemptSpec {
  LlmApi api = LlmApi::kOpenAiCompletions;
  std::string base_url;
  Secret key;  // empty = none is sent
  LlmTimeouts timeouts;
  std::shared_ptr<const http::client::Trust> trust;
  HttpRequest request;
};

// One request on its way, from connecting to the end of the answer. Lives on the core loop; the bytes come from the transport's thread,
// which stops reading while more than kMostBuffered of them wait here. `sink` gets the events of one answer (event.h) and may destroy
// the attempt. Destroying one that has not ended closes its connection.
class Attempt {
 public:
  static constexpr size_t kMostBuffered = 256u << 10;

  Attempt(Loop& loop, http::client::CurlLoop& curl, AttemptSpec spec, Sink sink);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  void Pause();   // no more events until Resume; the clock of the stall timeout stands still
  void Resume();
  const Usage& usage() const { return decoder_.usage(); }

 private:
  struct Inbox;
  void Send(AttemptSpec& spec);
  void Drain();
  void TakeBytes(std::string_view bytes);
  void Done(const http::client::Outcome& outcome);
  void Deliver();  // until there are no more, or it is paused; may destroy this
  void Fail(Failure failure);
  void Watch();    // the next timeout
  Failure BrokenBy(const http::client::Outcome& outcome) const;

  Loop& loop_;
  http::client::CurlLoop& curl_;
  const LlmTimeouts timeouts_;
  const Secret key_;
  Sink sink_;
  std::deque<Event> events_;  // decoded, not delivered yet
  Decoder decoder_;
  std::shared_ptr<Inbox> inbox_;
  std::shared_ptr<Attempt*> self_;  // nullptr inside once this is gone: what was posted looks there first
  http::client::CurlLoop::Id transfer_ = 0;
  http::client::Outcome head_;      // status and headers
  std::string refusal_;             // the body of an answer that is no stream
  bool is_stream_ = false;
  bool content_ = false;
  bool paused_ = false;
  bool transfer_done_ = false;
  SteadyTime began_;
  SteadyTime last_byte_;
  Timer timer_;
};

}  // namespace beige::llm

#endif
