#include "gateway/sessions/turn.h"

#include <algorithm>
#include <utility>

#include "gateway/metrics/metrics.h"
#include "gateway/sessions/json_line.h"
#include "gateway/sessions/system_prompt.h"

namespace beige::sessions {
namespace {
using std::chrono::milliseconds;
constexpr double kCompactAt = 0.8;  // of the context window
constexpr size_t kMaxAgentsMd = 32u << 10;
constexpr size_t kWritingStep = 2048;  // bytes of a call's arguments between two events
constexpr milliseconds kLongestWait{60'000};
constexpr int kMaxWaits = 5;
constexpr std::string_view kNotWritten = "the session can't be written";

// A provider's trouble that may be over in a moment.
bool MayPass(llm::ErrorClass kind) {
  using llm::ErrorClass;
  return kind == ErrorClass::kRateLimit || kind == ErrorClass::kOverloaded || kind == ErrorClass::kNetwork || kind == ErrorClass::kStalled ||
         kind == ErrorClass::kProtocol || kind == ErrorClass::kCooling || kind == ErrorClass::kBusy;
}
}  // namespace

Turn::Turn(Session& session, Said said, bool resumes)
    : session_(session), services_(session.services()), said_(std::move(said)), resumes_(resumes), kept_(session), wait_(services_.loop) {}

Turn::~Turn() {
  if (reading_ != 0) services_.tools.Cancel(reading_);
  for (const auto& [id, running] : running_) services_.tools.Cancel(running.id);
}

void Turn::Begin() {
  // Nothing may come between a call and its result, whatever could not be written before.
  if (!CloseCalls("", "what came of it could not be recorded; it may have been done") || !session_.Write(TurnBegun{said_.prompt, session_.transcript().turns() + (resumes_ ? 0 : 1)})) {
    session_.GiveUpWaiting(kNotWritten);
    return End("error", "internal", std::string(kNotWritten));
  }
  if (!resumes_) session_.BeginNumbering();
  session_.Emit("turn", JsonLine().Text("prompt", said_.prompt).Text("text", said_.text).Text("actor", said_.actor).Done(), said_.prompt);
  if (ended_) return;
  session_.agents_md() ? Ask() : ReadAgentsMd();
}

// In the sandbox, as the agent, once for as long as the session is in memory: a system prompt that changes loses the provider's cache.
void Turn::ReadAgentsMd() {
  auto mind = MindOf(services_, session_.agent(), session_.transcript().model(), session_.transcript().thinking());
  const auto& core = mind ? mind->agent.grant.core_tools : std::vector<std::string>{};
  if (!mind || !mind->agent.connected || std::find(core.begin(), core.end(), "read") == core.end()) return Ask();
  llm::ToolCall call;
  call.name = "read";
  call.arguments = R"({"path":"/workspace/AGENTS.md"})";
  reading_ = services_.tools.Run({session_.agent(), session_.id(), std::move(call)}, [](int, std::string_view) {}, [this](ToolOutcome outcome) {
    reading_ = 0;
    session_.agents_md() = outcome.is_error ? "" : CutText(outcome.text, kMaxAgentsMd);
    Ask();
  });
}

bool Turn::TakeSteering() {
  for (const Said& said : session_.Steering()) {
    if (auto done = session_.Write(Steered{said.prompt}); !done) {
      End("error", "internal", done.error().message);
      return false;
    }
    session_.Emit("steer", JsonLine().Text("prompt", said.prompt).Text("text", said.text).Text("actor", said.actor).Done(), prompt());
    if (ended_) return false;
  }
  return true;
}

void Turn::Ask() {
  if (ended_ || !TakeSteering()) return;
  if (steps_ >= kMaxSteps) return End("done", "max_steps", "");
  if (session_.size() > Session::kOverfull) return End("error", "session_full", "the session's file has grown to " + std::to_string(session_.size() >> 20) + " MiB: begin a new one");
  const Transcript& transcript = session_.transcript();
  auto mind = MindOf(services_, session_.agent(), transcript.model(), transcript.thinking());
  if (!mind) return End("error", "denied", mind.error().message);
  if (CompactFirst(*mind)) return;
  ++steps_;
  llm::Request request;
  request.system = SystemPrompt(*mind, session_.agents_md().value_or(""));
  request.messages = transcript.messages();
  request.tools = ToolRunner::Offered(mind->agent.grant.core_tools, mind->tools);
  request.cache_key = session_.id();
  fold_.reset();
  model_.clear();
  writing_.clear();
  auto asked = ModelRequest::Start(services_, *mind, said_.actor, session_.id(), std::move(request), [this](const llm::Event& event) { OnEvent(event); });
  if (!asked) return End("error", "denied", asked.error().message);
  request_ = std::move(*asked);
}

bool Turn::CompactFirst(const Mind& mind) {
  const auto limit = static_cast<int64_t>(kCompactAt * static_cast<double>(mind.context_window));
  if (mind.context_window <= 0 || session_.transcript().context_tokens() <= limit) return false;
  const auto keep = static_cast<size_t>(mind.context_window);  // bytes: about a quarter of it in tokens
  if (!session_.transcript().CutFor(keep)) return false;
  Compact(mind, keep);
  return true;
}

void Turn::Compact(const Mind& mind, size_t keep) {
  compaction_ = std::make_unique<Compaction>(session_, mind, keep, [this](Result<> done) {
    past_compaction_ = std::move(compaction_);
    if (!done) return End("error", "context_length", "the conversation is too long, and no summary of it could be made: " + done.error().message);
    Ask();
  });
}

void Turn::OnEvent(const llm::Event& event) {
  if (ended_) return;
  if (const auto* started = std::get_if<llm::Started>(&event)) {
    const auto& providers = services_.config->llm.providers;
    const auto provider = providers.find(started->asked.provider);
    fold_.emplace(provider == providers.end() ? LlmApi::kOpenAiCompletions : provider->second.api);
    model_ = started->asked.ToString();
    return session_.Emit("model", JsonLine().Text("model", model_).Done(), said_.prompt);
  }
  if (const auto* failed = std::get_if<llm::Failed>(&event)) return OnFailed(failed->failure);
  if (!fold_) fold_.emplace(LlmApi::kOpenAiCompletions);
  fold_->Add(event);
  if (const auto* text = std::get_if<llm::TextDelta>(&event)) {
    kept_.Add(model_, static_cast<int64_t>(fold_->message().parts.size()), text->text);
    session_.Emit("text", JsonLine().Text("text", text->text).Done(), said_.prompt);
  } else if (const auto* thought = std::get_if<llm::ThinkingDelta>(&event)) {
    session_.Emit("thinking", JsonLine().Text("text", thought->text).Done(), said_.prompt);
  } else if (const auto* start = std::get_if<llm::ToolCallStart>(&event)) {
    OnWriting(start->index, start->name, 0);
  } else if (const auto* args = std::get_if<llm::ToolCallArgs>(&event)) {
    OnWriting(args->index, "", args->text.size());
  } else if (const auto* usage = std::get_if<llm::Usage>(&event)) {
    session_.Emit("usage", JsonLine().Of(*usage).Done(), said_.prompt);
  } else if (const auto* stopped = std::get_if<llm::Stopped>(&event)) {
    OnAnswer(*stopped);
  }
}

void Turn::OnWriting(int index, std::string_view name, size_t bytes) {
  auto& [known, written] = writing_[index];
  if (!name.empty()) known = name;
  const size_t before = written;
  written += bytes;
  if (!name.empty() || before / kWritingStep != written / kWritingStep) {
    session_.Emit("writing", JsonLine().Number("index", index).Text("name", known).Number("bytes", static_cast<int64_t>(written)).Done(), said_.prompt);
  }
}

// By value: the request, and with it the event, goes at once.
void Turn::OnAnswer(llm::Stopped stopped) {
  const llm::Fold fold = std::move(*std::exchange(fold_, std::nullopt));  // whatever happens next, it is no answer on its way any more
  kept_.Forget();
  Answered answer;
  answer.model = model_;
  answer.message = fold.message();
  answer.stop = llm::StopReasonName(stopped.reason);
  answer.usage = fold.usage();
  answer.usage += request_->unreported();
  request_.reset();
  // Ids of the session's own: providers' repeat, or don't exist, and another provider may not take them.
  int64_t number = session_.transcript().calls();
  std::vector<llm::ToolCall> calls;
  for (llm::Part& part : answer.message.parts) {
    if (auto* call = std::get_if<llm::ToolCall>(&part)) {
      call->id = "call_" + std::to_string(++number);
      calls.push_back(*call);
    }
  }
  for (const llm::ToolCallBroken& broken : fold.broken()) answer.notes.push_back("Your call of " + broken.name + " was not run: " + broken.why);
  const bool broken = !answer.notes.empty();
  if (auto done = session_.Write(std::move(answer)); !done) return End("error", "internal", done.error().message);
  if (!calls.empty()) {
    broken_ = 0;
    return RunCalls(std::move(calls));
  }
  if (broken && ++broken_ <= kMaxBroken) return Ask();
  if (broken) return End("error", "protocol", "the model made " + std::to_string(broken_) + " answers in a row with calls that can't be run");
  End("done", std::string(llm::StopReasonName(stopped.reason)), "");
}

void Turn::RunCalls(std::vector<llm::ToolCall> calls) {
  for (const llm::ToolCall& call : calls) {
    JsonLine shown;
    shown.Text("id", call.id).Text("name", call.name).Raw("arguments", Shortened(call.arguments, kMaxShown));
    if (call.arguments.size() > kMaxShown) shown.Number("bytes", static_cast<int64_t>(call.arguments.size()));
    session_.Emit("call", shown.Done(), said_.prompt);
    if (ended_) return;
  }
  for (llm::ToolCall& call : calls) {
    const std::string id = call.id;
    Running& running = running_[id];
    running.call = call;
    running.id = services_.tools.Run(
        {session_.agent(), session_.id(), std::move(call)},
        [this, id](int stream, std::string_view text) {
          const auto found = running_.find(id);
          if (ended_ || found == running_.end() || found->second.shown >= kMaxOutput) return;
          found->second.shown += text.size();
          session_.Emit("output", JsonLine().Text("id", id).Text("stream", stream == 1 ? "stdout" : "stderr").Text("text", text).Done(), said_.prompt);
        },
        [this, id](ToolOutcome outcome) { OnResult(id, std::move(outcome)); });
  }
}

void Turn::OnResult(const std::string& id, ToolOutcome outcome) {
  const auto found = running_.find(id);
  if (ended_ || found == running_.end()) return;
  const llm::ToolCall call = std::move(found->second.call);
  running_.erase(found);
  JsonLine shown;
  shown.Text("id", call.id).Text("name", call.name).Bool("error", outcome.is_error).Text("text", CutText(outcome.text, kMaxShown));
  if (!outcome.diff.empty()) shown.Text("diff", outcome.diff);
  Resulted result{{call.id, call.name, std::move(outcome.text), std::move(outcome.images), outcome.is_error}, std::move(outcome.diff)};
  if (auto done = session_.Write(std::move(result)); !done) return End("error", "internal", done.error().message);
  session_.Emit("result", shown.Done(), said_.prompt);
  if (!ended_ && running_.empty()) Ask();
}

bool Turn::WriteUnfinished(const std::string& why) {
  kept_.Forget();
  Answered answer;
  answer.model = model_;
  answer.unfinished = why;
  if (fold_) {
    for (const llm::Part& part : fold_->message().parts) {
      if (std::holds_alternative<llm::Text>(part)) answer.message.parts.push_back(part);
    }
    answer.usage = fold_->usage();
  }
  if (request_) answer.usage += request_->unreported();
  fold_.reset();
  request_.reset();
  if (answer.message.parts.empty() && answer.usage == llm::Usage{}) return true;
  return session_.Write(std::move(answer)).has_value();
}

bool Turn::CloseCalls(std::string_view running, std::string_view others) {
  const std::map<std::string, Running> ended = std::exchange(running_, {});
  for (const auto& [id, call] : ended) services_.tools.Cancel(call.id);
  for (const llm::ToolCall& call : std::vector<llm::ToolCall>(session_.transcript().open_calls())) {
    llm::ToolResult result{call.id, call.name, std::string(ended.contains(call.id) ? running : others), {}, true};
    if (!session_.Write(Resulted{std::move(result), ""})) return false;
  }
  return true;
}

void Turn::OnFailed(llm::Failure failure) {
  const bool content = fold_.has_value() && !fold_->message().parts.empty();
  const std::string kind(llm::ErrorClassName(failure.kind));
  if (!WriteUnfinished(kind)) return End("error", "internal", std::string(kNotWritten));
  if (failure.kind == llm::ErrorClass::kContextLength && !content && !std::exchange(compacted_for_length_, true)) {
    auto mind = MindOf(services_, session_.agent(), session_.transcript().model(), session_.transcript().thinking());
    const size_t keep = BytesOf(*session_.transcript().messages().back());
    if (mind && session_.transcript().CutFor(keep)) return Compact(*mind, keep);
  }
  if (failure.kind == llm::ErrorClass::kBadRequest && !content && session_.transcript().messages().back().has_images()) {
    // A broken file that the agent has read, or a kind that this model does not take: the conversation must not be lost with it.
    if (!session_.Write(PicturesRefused{})) return End("error", "internal", std::string(kNotWritten));
    return Ask();
  }
  if (!content && TryLater(failure)) return;
  End("error", kind, failure.message, failure.retry_after);
}

// In the middle of a turn, with work done, waiting a little is better than giving up. A turn's first request fails at once instead: the
// caller knows better than we what else to do.
bool Turn::TryLater(const llm::Failure& failure) {
  if (steps_ < 2 || waits_ >= kMaxWaits || !MayPass(failure.kind)) return false;
  const milliseconds wait = failure.retry_after.value_or(milliseconds(1000 << waits_));
  if (wait > kLongestWait) return false;
  ++waits_;
  session_.Emit("waiting", JsonLine().Text("code", llm::ErrorClassName(failure.kind)).Text("message", failure.message).Number("ms", wait.count()).Done(), said_.prompt);
  if (!ended_) wait_.Start(wait, [this] { Ask(); });
  return true;
}

void Turn::Abort() {
  if (ended_) return;
  // The request is cancelled with it, which the audit says.
  if (!WriteUnfinished("aborted") || !CloseCalls("aborted by the user while it ran; it may have been done in part", "aborted by the user before it was run")) {
    return End("error", "internal", std::string(kNotWritten));
  }
  End("aborted", "", "");
}

void Turn::End(std::string_view outcome, std::string code, std::string message, std::optional<milliseconds> retry_after) {
  if (std::exchange(ended_, true)) return;
  wait_.Cancel();
  request_.reset();
  if (compaction_) past_compaction_ = std::move(compaction_);
  if (past_compaction_) past_compaction_->Cancel();
  if (reading_ != 0) services_.tools.Cancel(std::exchange(reading_, 0));
  (void)CloseCalls("interrupted while it ran; it may have been done in part", "not run: the turn ended before");  // else before the next turn
  TurnEnded end = session_.Ending(said_.prompt);
  end.outcome = outcome;
  end.code = code;
  end.message = message;
  if (auto done = session_.Write(end); !done && outcome != "error") {
    outcome = "error";
    code = "internal";
    message = done.error().message;
  }
  services_.metrics.CountTurn(session_.agent().key(), outcome);
  JsonLine data;
  data.Text("prompt", said_.prompt);
  if (outcome == "done") data.Text("stop", code);
  if (outcome == "error") {
    data.Text("code", code).Text("message", message);
    if (retry_after) data.Number("retryAfterMs", retry_after->count());
  }
  session_.Emit(outcome, data.Done(), said_.prompt, true);
  session_.TurnOver();
}

}  // namespace beige::sessions
