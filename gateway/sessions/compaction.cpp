#include "gateway/sessions/compaction.h"

#include <utility>

#include "gateway/sessions/compaction_text.h"
#include "gateway/sessions/json_line.h"
#include "gateway/sessions/session.h"

namespace beige::sessions {
namespace {
constexpr size_t kDefaultLimit = 200'000;  // bytes, for a model whose window is not told
constexpr std::string_view kTask =
    "You shorten conversations between a user and an agent that works in a sandbox. Write what the agent needs to go on without the original: "
    "the user's goals and wishes in their own words, what was decided, what was done and with which outcome, files and commands by name, "
    "open problems, and what comes next. Facts only, no greeting, no comment on the task.";

}  // namespace

Compaction::Compaction(Session& session, Mind mind, size_t keep, std::function<void(Result<>)> done)
    : session_(session), from_(session.transcript().CutFor(keep).value_or(0)), done_(std::move(done)) {
  // Two bytes for each token of the window: about half of it, so that there is room for the summary whatever the text is.
  const size_t limit = mind.context_window > 0 ? static_cast<size_t>(mind.context_window) * 2 : kDefaultLimit;
  llm::Request request;
  request.system = kTask;
  request.messages = {llm::Message{llm::Role::kUser, {llm::Text{"The conversation:\n\n" + Narrate(session.transcript().Before(from_), limit) + "Write its summary."}}}};
  request.cache = false;
  for (llm::Choice& choice : mind.choices) choice.thinking = llm::ThinkingLevel::kOff;
  auto asked = ModelRequest::Start(session.services(), mind, session.actor(), session.id(), std::move(request), [this](const llm::Event& event) { OnEvent(event); });
  if (asked) {
    request_ = std::move(*asked);
    return;
  }
  session.services().loop.Post([this, alive = alive_, error = asked.error()] {
    if (*alive) Tell(tl::make_unexpected(error));
  });
}

Compaction::~Compaction() { *alive_ = false; }

void Compaction::Cancel() {
  if (done_ && request_) Spent();
  done_ = nullptr;
  request_.reset();
}

void Compaction::Spent() {
  Answered answer;
  answer.unfinished = "compaction";
  answer.usage = usage_;
  answer.usage += request_->unreported();
  if (answer.usage != llm::Usage{}) (void)session_.Write(std::move(answer));
}

void Compaction::OnEvent(const llm::Event& event) {
  if (!done_) return;
  if (const auto* text = std::get_if<llm::TextDelta>(&event)) summary_ += text->text;
  if (const auto* usage = std::get_if<llm::Usage>(&event)) usage_ = *usage;
  if (const auto* failed = std::get_if<llm::Failed>(&event)) {
    Spent();
    return Tell(Fail(Code::kUnavailable, failed->failure.message));
  }
  if (std::holds_alternative<llm::Stopped>(event)) Finish();
}

void Compaction::Finish() {
  usage_ += request_->unreported();
  if (summary_.find_first_not_of(" \t\r\n") == std::string::npos) return Tell(Fail(Code::kUnavailable, "the model's summary is empty"));
  if (auto done = session_.Write(Compacted{summary_, from_, usage_}); !done) return Tell(std::move(done));
  session_.Emit("usage", JsonLine().Of(usage_).Done());
  session_.Emit("compacted", JsonLine().Text("summary", summary_).Done());
  Tell({});
}

void Compaction::Tell(Result<> result) {
  const auto done = std::exchange(done_, nullptr);
  if (done) done(std::move(result));
}

}  // namespace beige::sessions
