#include "gateway/llm/attempt.h"

#include <mutex>
#include <optional>
#include <utility>

#include "gateway/llm/failure.h"

namespace beige::llm {
namespace {
using http::client::CurlLoop;
using http::client::Ended;
using http::client::Flow;
using http::client::Outcome;
using std::chrono::milliseconds;
constexpr size_t kMaxRefusal = 64u << 10;
constexpr long kReadBuffer = 4096;  // a stream's pieces are small, and every open stream has one
constexpr milliseconds kLinger{1'000};  // for an answer's last bytes, so that its connection can be used again

SteadyTime Now() { return std::chrono::steady_clock::now(); }

bool LooksLikeStream(const Outcome& head) {
  if (head.status != 200) return false;
  const std::string_view type = head.Header("content-type");
  return !type.starts_with("application/json") && !type.starts_with("text/html");
}

}  // namespace

// Between the transport's thread and the core.
struct Attempt::Inbox {
  std::mutex mutex;  // guards everything
  std::string bytes;
  std::optional<Outcome> head;
  std::optional<Outcome> done;
  bool drain_posted = false;
  bool full = false;     // the transport waits
  bool discard = false;  // the answer has ended; what else comes is of no interest
};

Attempt::Attempt(Loop& loop, CurlLoop& curl, AttemptSpec spec, Sink sink)
    : loop_(loop), curl_(curl), timeouts_(spec.timeouts), key_(spec.key), sink_(std::move(sink)),
      decoder_(spec.api, [this](const Event& event) { events_.push_back(event); }),
      inbox_(std::make_shared<Inbox>()), self_(std::make_shared<Attempt*>(this)), began_(Now()), last_byte_(began_), timer_(loop) {
  Send(spec);
  Watch();
}

Attempt::~Attempt() {
  *self_ = nullptr;
  {
    std::lock_guard lock(inbox_->mutex);
    inbox_->discard = true;
  }
  if (transfer_done_) return;
  if (decoder_.ended()) {
    curl_.Resume(transfer_);
    curl_.After(kLinger, [&curl = curl_, id = transfer_] { curl.Stop(id); });
  } else {
    curl_.Stop(transfer_);
  }
}

void Attempt::Send(AttemptSpec& spec) {
  http::client::Transfer transfer;
  transfer.method = "POST";
  transfer.url = spec.base_url + spec.request.path;
  transfer.content_type = "application/json";
  transfer.body = std::move(spec.request.body);
  for (auto& [name, value] : spec.request.headers) transfer.headers.emplace_back(name, Secret(value));
  transfer.headers.emplace_back("user-agent", Secret("beige/" BEIGE_VERSION));
  if (!key_.empty()) {
    const auto [name, before] = AuthHeader(spec.api);
    transfer.headers.emplace_back(name, Secret(before + key_.Reveal()));
  }
  transfer.trust = spec.trust;
  transfer.environment_proxy = true;
  transfer.read_buffer = kReadBuffer;
  transfer.connect = timeouts_.connect;
  transfer.deadline = timeouts_.total;
  // On the transport's thread from here on.
  const auto post = [&loop = loop_, self = self_, inbox = inbox_] {  // the inbox is locked
    if (std::exchange(inbox->drain_posted, true)) return;
    loop.Post([self] {
      if (*self != nullptr) (*self)->Drain();
    });
  };
  transfer.on_headers = [inbox = inbox_, post](const Outcome& head) {
    std::lock_guard lock(inbox->mutex);
    inbox->head = head;
    post();
  };
  transfer.on_data = [inbox = inbox_, post](std::string_view bytes) {
    std::lock_guard lock(inbox->mutex);
    if (inbox->discard) return Flow::kMore;
    if (!inbox->bytes.empty() && inbox->bytes.size() + bytes.size() > kMostBuffered) {
      inbox->full = true;
      return Flow::kPause;
    }
    inbox->bytes += bytes;
    post();
    return Flow::kMore;
  };
  transfer.on_done = [inbox = inbox_, post](const Outcome& outcome) {
    std::lock_guard lock(inbox->mutex);
    inbox->done = outcome;
    post();
  };
  transfer_ = curl_.Start(std::move(transfer));
}

void Attempt::Pause() { paused_ = true; }

void Attempt::Resume() {
  if (!std::exchange(paused_, false)) return;
  last_byte_ = Now();
  loop_.Post([self = self_] {
    if (*self != nullptr) (*self)->Drain();
  });
}

void Attempt::Drain() {
  std::string bytes;
  std::optional<Outcome> head, done;
  bool was_full = false;
  {
    std::lock_guard lock(inbox_->mutex);
    inbox_->drain_posted = false;
    if (inbox_->done) transfer_done_ = true;
    if (paused_) return;
    bytes.swap(inbox_->bytes);
    head = std::exchange(inbox_->head, std::nullopt);
    done = std::exchange(inbox_->done, std::nullopt);
    was_full = std::exchange(inbox_->full, false);
  }
  if (was_full) curl_.Resume(transfer_);
  if (decoder_.ended()) return Deliver();
  if (head) {
    head_ = std::move(*head);
    is_stream_ = LooksLikeStream(head_);
  }
  if (!bytes.empty()) TakeBytes(bytes);
  if (done) Done(*done);
  Deliver();
}

void Attempt::TakeBytes(std::string_view bytes) {
  last_byte_ = Now();
  if (is_stream_) {
    decoder_.Feed(bytes);
  } else if (refusal_.size() < kMaxRefusal) {
    refusal_ += bytes.substr(0, kMaxRefusal - refusal_.size());
  }
}

void Attempt::Done(const Outcome& outcome) {
  transfer_done_ = true;
  const bool refused = !is_stream_ && outcome.status >= 400;  // says enough, even when its body was cut
  if (outcome.ended != Ended::kComplete && !refused) {
    decoder_.Break(BrokenBy(outcome));
  } else if (is_stream_) {
    decoder_.End();
  } else {
    decoder_.Break(FailureOfAnswer(outcome.status, outcome.headers, refusal_, std::chrono::system_clock::now()));
  }
}

Failure Attempt::BrokenBy(const Outcome& outcome) const {
  Failure failure{ErrorClass::kNetwork};
  failure.status = outcome.status == 200 ? 0 : outcome.status;
  switch (outcome.ended) {
    case Ended::kNoConnection: failure.message = "no connection: " + outcome.why; break;
    case Ended::kTimeout:
      if (outcome.connected || timeouts_.total < timeouts_.connect) {
        failure.kind = ErrorClass::kStalled;
        failure.message = "the answer took longer than timeouts.total, " + FormatDuration(timeouts_.total);
      } else {
        failure.message = "no connection within timeouts.connect, " + FormatDuration(timeouts_.connect);
      }
      break;
    default: failure.message = "the connection broke: " + outcome.why; break;
  }
  return failure;
}

void Attempt::Deliver() {
  const auto self = self_;
  if (decoder_.ended()) {
    timer_.Cancel();
    std::lock_guard lock(inbox_->mutex);
    inbox_->discard = true;
    if (inbox_->done) transfer_done_ = true;
  }
  const Sink sink = sink_;  // a copy: it may destroy this, and itself with it
  while (!events_.empty() && !paused_) {
    Event event = std::move(events_.front());
    events_.pop_front();
    if (!content_ && IsContent(event)) {
      content_ = true;
      Watch();  // another timeout from here on
    }
    if (auto* failed = std::get_if<Failed>(&event)) failed->failure.message = Presentable(std::move(failed->failure.message), key_);
    sink(event);
    if (*self == nullptr) return;
  }
}

void Attempt::Fail(Failure failure) {
  decoder_.Break(std::move(failure));
  curl_.Stop(transfer_);
  Deliver();
}

// One timer that looks again when bytes have come since it was set: cheaper than setting it at each of them.
void Attempt::Watch() {
  if (decoder_.ended()) return;
  const SteadyTime now = Now();
  const SteadyTime until = content_ ? last_byte_ + timeouts_.stall : began_ + timeouts_.first_token;
  if (paused_) return timer_.Start(timeouts_.stall, [this] { Watch(); });
  if (now < until) return timer_.Start(until - now, [this] { Watch(); });
  Fail({ErrorClass::kStalled, content_ ? "nothing came for timeouts.stall, " + FormatDuration(timeouts_.stall)
                                       : "no answer within timeouts.firstToken, " + FormatDuration(timeouts_.first_token)});
}

}  // namespace beige::llm
