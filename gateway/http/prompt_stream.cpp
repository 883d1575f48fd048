#include "gateway/http/prompt_stream.h"

#include <utility>

#include "base/json_text.h"
#include "gateway/http/reply.h"

namespace beige {

void PromptWait::Start(PromptBody body) {
  detach_ = body.prompt.detach;
  beige_ = body.beige;
  auto self = shared_from_this();
  sessions().Submit(std::move(body.prompt), [this, self](Result<sessions::Accepted> accepted) { Submitted(std::move(accepted)); });
}

void PromptWait::Submitted(Result<sessions::Accepted> accepted) {
  if (!accepted) return Reply(SessionError(accepted.error()));
  accepted_ = std::move(*accepted);
  filter_.SetPrompt(accepted_.prompt);
  if (left_) return TakeBack();
  if (over()) return;
  Began(accepted_);
  Watch(accepted_.session, accepted_.after);
}

void PromptWait::Left() {
  if (over()) return;
  left_ = true;
  Close();
  if (!accepted_.prompt.empty()) TakeBack();
}

void PromptWait::TakeBack() {
  if (!detach_) sessions().Abort(agent(), accepted_.session, accepted_.prompt, [](const Result<>&) {});
}

void PromptWait::OnEvent(const sessions::Event& event) {
  if (!over() && filter_.Wants(event)) Take(event, filter_.Ends(event));
}

void PromptStream::Began(const sessions::Accepted& accepted) {
  Begin();
  std::string data = R"({"session":)";
  AppendJsonString(data, accepted.session);
  data += R"(,"prompt":)";
  AppendJsonString(data, accepted.prompt);
  data += R"(,"ahead":)";
  AppendUnsigned(data, accepted.ahead);
  (void)Send(Sse("accepted", data + "}"));
}

void PromptStream::Take(const sessions::Event& event, bool last) {
  std::string bytes;
  AppendSse(bytes, event);
  if (last) return End(std::move(bytes));
  if (Send(std::move(bytes))) {
    // Who waits sees the first word at once, and not when all that came with it has been worked on.
    if (!std::exchange(said_, event.name == "text" || event.name == "thinking") && said_) Flush();
    return;
  }
  Fail("slow_reader", detached() ? "you read too slowly; the turn goes on, follow it by the session's events"
                                 : "you read too slowly, so the prompt was taken back; a client that may be slow says detach");
  TakeBack();  // after the stream's end: it is told as an event of its own
}

void PromptStream::Fail(std::string_view code, std::string_view message) {
  std::string data = R"({"prompt":)";
  AppendJsonString(data, accepted().prompt);
  data += R"(,"code":)";
  AppendJsonString(data, code);
  data += R"(,"message":)";
  AppendJsonString(data, message);
  End(Sse("error", data + "}"));
}

void PromptStream::OnClosed(const Error& why) {
  if (!begun()) return Reply(SessionError(why));
  Fail("interrupted", why.message);
}

void PromptStream::Stop() { OnClosed({Code::kUnavailable, "the gateway stops"}); }

}  // namespace beige
