#ifndef BEIGE_GATEWAY_HTTP_PROMPT_STREAM_H_
#define BEIGE_GATEWAY_HTTP_PROMPT_STREAM_H_

#include <string>

#include "gateway/http/session_bodies.h"
#include "gateway/http/session_stream.h"
#include "gateway/http/turn_filter.h"

namespace beige {

// A prompt that a client waits for: submitted, and its turn followed to the end. A client that leaves takes its prompt back unless it
// has said `detach`.
class PromptWait : public SessionStream {
 public:
  using SessionStream::SessionStream;
  void Start(PromptBody body);  // with agent and actor
  void Left() override;
  void OnEvent(const sessions::Event& event) final;

 protected:
  virtual void Began(const sessions::Accepted& accepted) = 0;
  virtual void Take(const sessions::Event& event, bool last) = 0;
  void TakeBack();  // unless detached
  bool for_beige() const { return beige_; }
  bool detached() const { return detach_; }
  const sessions::Accepted& accepted() const { return accepted_; }

 private:
  void Submitted(Result<sessions::Accepted> accepted);

  TurnFilter filter_;
  sessions::Accepted accepted_;
  bool detach_ = false;
  bool left_ = false;
  bool beige_ = false;
};

// POST .../prompt with a stream for an answer.
class PromptStream final : public PromptWait {
 public:
  using PromptWait::PromptWait;
  void Stop() override;
  void OnClosed(const Error& why) override;

 private:
  void Began(const sessions::Accepted& accepted) override;
  void Take(const sessions::Event& event, bool last) override;
  void NotWatched(const Error& why) override { OnClosed(why); }
  void Fail(std::string_view code, std::string_view message);

  bool said_ = false;  // the last event was something that the model says
};

}  // namespace beige

#endif
