#include "gateway/sessions/session.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/random.h"
#include "gateway/sessions/compaction.h"
#include "gateway/sessions/json_line.h"
#include "gateway/sessions/listing.h"
#include "gateway/sessions/turn.h"

namespace beige::sessions {
namespace {
// Events of a session that was read from its file can't go on where those of an earlier run were.
constexpr int64_t kAfterReading = 1'000'000;

constexpr const char* kGoOn = "The gateway stopped in the middle of your answer. Go on with it.";
constexpr const char* kInterrupted = "the gateway stopped in the middle of this turn";

std::string Level(const std::optional<llm::ThinkingLevel>& thinking) { return thinking ? std::string(llm::ThinkingLevelName(*thinking)) : ""; }
}  // namespace

Session::Session(Services& services, AgentRef agent, std::string id, Transcript transcript, std::shared_ptr<LogFile> file)
    : services_(services), agent_(std::move(agent)), id_(std::move(id)), transcript_(std::move(transcript)), file_(std::move(file)),
      last_{transcript_.turns(), transcript_.turns() > 0 ? kAfterReading : 0}, ring_(last_), touched_(services.clock.Now()) {
  Repair();
}

Session::~Session() { *alive_ = false; }

void Session::Repair() {
  for (const llm::ToolCall& call : std::vector<llm::ToolCall>(transcript_.open_calls())) {
    (void)Write(Resulted{{call.id, call.name, "interrupted: the gateway stopped while this ran; it may have been done in part, in whole or not at all", {}, true}, ""});
  }
  if (auto cut = transcript_.cut_answer()) {
    cut->unfinished = "interrupted";
    // The model is the next to speak then, in a turn that goes on.
    if (transcript_.running_detached() && !transcript_.resumed()) cut->notes = {kGoOn};
    (void)Write(*std::move(cut));
  }
  resume_ = MayResume();
  if (!resume_ && !transcript_.running().empty()) EndLeft("error", "interrupted", kInterrupted);
  for (const Said& said : std::deque<Said>(transcript_.waiting())) {
    if (said.detach) {
      left_.insert(said.prompt);
    } else {
      (void)Write(Dropped{said.prompt});
    }
  }
  held_ = resume_ || !left_.empty();
  if (!held_) file_->Unmark();
}

// Once, so that a turn that ends the gateway does not do so for ever; and only where the model is the next to speak.
bool Session::MayResume() const {
  return transcript_.running_detached() && !transcript_.resumed() && !transcript_.messages().empty() && transcript_.messages().back()->role == llm::Role::kUser;
}

void Session::EndLeft(const std::string& outcome, const std::string& code, const std::string& message) {
  resume_ = false;
  const std::string prompt = transcript_.running();
  TurnEnded end = Ending(prompt);
  end.outcome = outcome;
  end.code = code;
  end.message = message;
  (void)Write(end);
  JsonLine data;
  data.Text("prompt", prompt);
  if (outcome == "error") data.Text("code", code).Text("message", message);
  Emit(outcome == "error" ? "error" : "aborted", data.Done(), prompt, true);
}

void Session::Release() {
  held_ = false;
  left_.clear();
  StartSoon();
}

Result<> Session::Write(Record record) {
  Line line{transcript_.next_line(), FormatTime(services_.clock.WallNow()), std::move(record)};
  if (auto done = file_->Append(EncodeLine(line)); !done) {
    LogError("session not written", {{"agent", agent_.key().ToString()}, {"session", id_}, {"error", done.error().message}});
    return Fail(Code::kUnavailable, "session " + id_ + " can't be written: " + done.error().message);
  }
  // Pieces are for a gateway that ends; not worth a sync each of hundreds of streams for a host that does.
  if (!std::holds_alternative<Partial>(line.record)) services_.disk.SyncSoon(file_);
  transcript_.Apply(line);
  touched_ = services_.clock.Now();
  if (file_->marked() && !transcript_.HasDetached()) file_->Unmark();
  return {};
}

void Session::Emit(std::string_view name, std::string data, const std::string& prompt, bool ends) {
  ++last_.number;
  const Event event{last_.ToString(), name, std::move(data), prompt, ends};
  ring_.Add(last_, event);
  if (watchers_.empty()) return;
  if (watchers_.size() == 1) return watchers_.begin()->second->OnEvent(event);
  std::vector<WatchId> ids;
  for (const auto& [id, watcher] : watchers_) ids.push_back(id);
  for (const WatchId id : ids) {
    if (const auto found = watchers_.find(id); found != watchers_.end()) found->second->OnEvent(event);
  }
}

void Session::BeginNumbering() { last_ = {transcript_.turns(), 0}; }

Result<> Session::CheckModel(const std::string& model) const {
  const auto view = services_.roster.Find(agent_.key());
  if (!view) return Fail(Code::kNotFound, "no agent " + agent_.name);
  std::string known;
  for (const auto& choice : view->grant.model_choices) {
    if (choice.name == model) return {};
    known += (known.empty() ? "" : ", ") + choice.name;
  }
  return Fail(Code::kInvalid, "model: \"" + model.substr(0, 200) + "\" is not among the choices of agent " + agent_.name + ": " + (known.empty() ? "none" : known));
}

Result<> Session::SetModel(const std::string& model, std::optional<llm::ThinkingLevel> thinking) {
  if (!model.empty()) BEIGE_TRY(CheckModel(model));
  const std::string level = thinking ? Level(thinking) : transcript_.thinking();
  const std::string& name = model.empty() ? transcript_.model() : model;
  if (name == transcript_.model() && level == transcript_.thinking()) return {};
  return Write(ModelSet{name, level});
}

Result<Accepted> Session::Submit(Prompt prompt) {
  BEIGE_TRY(MindOf(services_, agent_, transcript_.model(), transcript_.thinking()));
  if (transcript_.waiting().size() >= kMaxWaiting) {
    return Fail(Code::kExhausted, "session " + id_ + ": " + std::to_string(kMaxWaiting) + " prompts wait already; wait for an answer, or abort some");
  }
  if (file_->size() > kFull) {
    return Fail(Code::kExhausted, "session " + id_ + " has grown to " + std::to_string(file_->size() >> 20) + " MiB and takes no more prompts: begin a new one");
  }
  if (prompt.model || prompt.thinking) BEIGE_TRY(SetModel(prompt.model.value_or(""), prompt.thinking));
  Accepted accepted;
  accepted.session = id_;
  accepted.prompt = RandomUlid();
  accepted.after = last_.ToString();
  accepted.ahead = transcript_.waiting().size() - left_.size() + (turn_ || (resume_ && !held_) ? 1 : 0);  // what is held does not hold up others
  if (prompt.detach) BEIGE_TRY(file_->Mark());
  BEIGE_TRY(Write(Said{accepted.prompt, prompt.actor, std::move(prompt.text), std::move(prompt.images), prompt.steer && turn_ != nullptr, prompt.detach}));
  StartSoon();
  return accepted;
}

// Not from within the caller: who submits must be able to watch first.
void Session::StartSoon() {
  if (std::exchange(start_posted_, true)) return;
  services_.loop.Post([this, alive = alive_] {
    if (!*alive) return;
    start_posted_ = false;
    Start();
  });
}

void Session::Start() {
  if (turn_ || compaction_) return;
  const bool resume = resume_ && !held_;
  const Said* next = resume ? &*transcript_.running_detached() : Next();
  if (next == nullptr) return;
  const Said said = *next;
  // Somebody speaks before an interrupted turn could go on: he sees what happened, and decides.
  if (resume_ && !resume) EndLeft("error", "interrupted", kInterrupted);
  resume_ = false;
  actor_ = said.actor;
  turn_ = std::make_unique<Turn>(*this, said, resume);
  turn_->Begin();
}

const Said* Session::Next() const {
  for (const Said& said : transcript_.waiting()) {
    if (!left_.contains(said.prompt)) return &said;
  }
  return nullptr;
}

void Session::TurnOver() {
  over_.push_back(std::move(turn_));
  touched_ = services_.clock.Now();
  services_.loop.Post([this, alive = alive_] {
    if (*alive) over_.clear();
  });
  if (!transcript_.waiting().empty()) StartSoon();
}

std::vector<Said> Session::Steering() const {
  std::vector<Said> out;
  for (const Said& said : transcript_.waiting()) {
    if (said.steer && !left_.contains(said.prompt)) out.push_back(said);
  }
  return out;
}

TurnEnded Session::Ending(const std::string& prompt) const {
  TurnEnded end;
  end.prompt = prompt;
  end.title = transcript_.title();
  end.turns = transcript_.turns();
  end.total = transcript_.total();
  end.model = transcript_.model();
  end.thinking = transcript_.thinking();
  return end;
}

Result<> Session::Abort(const std::string& prompt) {
  bool found = false;
  if (turn_ && (prompt.empty() || turn_->prompt() == prompt)) {
    found = true;
    turn_->Abort();
  }
  if (resume_ && (prompt.empty() || transcript_.running() == prompt)) {
    found = true;
    EndLeft("aborted", "", "");
  }
  if (prompt.empty()) StopCompaction();
  Result<> written;
  for (const Said& said : std::deque<Said>(transcript_.waiting())) {
    if (!prompt.empty() && said.prompt != prompt) continue;
    found = true;
    if (auto done = Write(Dropped{said.prompt}); done) {
      left_.erase(said.prompt);
      Emit("aborted", JsonLine().Text("prompt", said.prompt).Done(), said.prompt, true);
    } else {
      written = std::move(done);
    }
  }
  if (!written) return written;
  if (!found && !prompt.empty()) return Fail(Code::kNotFound, "prompt \"" + prompt.substr(0, 64) + "\" neither runs nor waits in session " + id_);
  return {};
}

void Session::GiveUpWaiting(std::string_view why) {
  for (const Said& said : std::deque<Said>(transcript_.waiting())) {
    transcript_.Apply({transcript_.next_line(), FormatTime(services_.clock.WallNow()), Dropped{said.prompt}});
    left_.erase(said.prompt);
    if (turn_ && turn_->prompt() == said.prompt) continue;  // which tells it by itself
    Emit("error", JsonLine().Text("prompt", said.prompt).Text("code", "internal").Text("message", why).Done(), said.prompt, true);
  }
}

void Session::StopCompaction() {
  if (!compacted_) return;
  const Done<> tell = std::exchange(compacted_, nullptr);
  compaction_->Cancel();
  CompactionOver();
  tell(Fail(Code::kConflict, "the compaction was stopped"));
}

void Session::Compact(std::string actor, Done<> done) {
  if (turn_ || compaction_ || resume_ || !transcript_.waiting().empty()) return done(Fail(Code::kConflict, "session " + id_ + " is busy: wait for its turn to end, or abort it"));
  auto mind = MindOf(services_, agent_, transcript_.model(), transcript_.thinking());
  if (!mind) return done(tl::make_unexpected(mind.error()));
  if (!transcript_.CutFor(0)) return done({});  // there is nothing to say shorter
  compacted_ = std::move(done);
  actor_ = std::move(actor);
  compaction_ = std::make_unique<Compaction>(*this, std::move(*mind), 0, [this](Result<> result) {
    const Done<> tell = std::exchange(compacted_, nullptr);
    CompactionOver();
    tell(std::move(result));
  });
}

void Session::CompactionOver() {
  compactions_over_.push_back(std::move(compaction_));
  services_.loop.Post([this, alive = alive_] {
    if (*alive) compactions_over_.clear();
  });
  if (!transcript_.waiting().empty()) StartSoon();
}

void Session::Watch(WatchId id, const std::string& after, Watcher* watcher, const Done<WatchId>& done) {
  std::vector<Event> missed;
  if (!after.empty()) {
    const auto from = ParseEventId(after);
    if (!from) return done(Fail(Code::kInvalid, "Last-Event-ID: want TURN-N, got \"" + after.substr(0, 64) + "\""));
    if (auto known = ring_.After(*from)) {
      missed = std::move(*known);
    } else {
      const EventId gone = ring_.dropped();
      missed = *ring_.After(gone);
      if (*from != EventId{}) {
        missed.insert(missed.begin(), Event{gone.ToString(), "reset", JsonLine().Text("message", "older events are gone: read the session").Done(), "", false});
      }
    }
  }
  watchers_[id] = watcher;
  done(id);
  for (const Event& event : missed) {
    if (!watchers_.contains(id)) return;
    watcher->OnEvent(event);
  }
}

void Session::Close(const Error& why) {
  if (auto done = Abort(""); !done) LogWarn("session closed with prompts that wait", {{"session", id_}, {"error", done.error().message}});
  TellClosed(why);
}

// As a crash would, but who can still be told is told.
void Session::Stop(const Error& why) {
  for (const Said& said : std::deque<Said>(transcript_.waiting())) {
    if (!said.detach) (void)Abort(said.prompt);
  }
  if (turn_) turn_->detached() ? turn_->Leave() : turn_->Abort();
  TellClosed(why);
}

void Session::TellClosed(const Error& why) {
  if (compacted_) std::exchange(compacted_, nullptr)(tl::make_unexpected(why));
  compaction_.reset();
  const auto watchers = std::exchange(watchers_, {});
  for (const auto& [id, watcher] : watchers) watcher->OnClosed(why);
}

std::optional<SteadyTime> Session::IdleSince() const {
  if (turn_ || compaction_ || start_posted_ || !watchers_.empty() || resume_ || !transcript_.waiting().empty() || !over_.empty() || !compactions_over_.empty()) return std::nullopt;
  return touched_;
}

Summary Session::Summarize() const {
  Summary out = SummaryOf(id_, transcript_);
  if (turn_ || compaction_) out.state = "running";
  if (resume_) ++out.queued;
  return out;
}

}  // namespace beige::sessions
