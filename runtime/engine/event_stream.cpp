#include "runtime/engine/event_stream.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/engine/labels.h"
#include "runtime/engine/wire.h"

namespace beige::runtime::engine {

namespace {

constexpr std::chrono::milliseconds kFirstBackoff{100};
constexpr std::chrono::milliseconds kLongestBackoff{5'000};

std::string EventsPath(const std::string& home) {
  const nlohmann::json filters{{"type", {"container"}}, {"label", {std::string(kHomeLabel) + "=" + home}}};
  return "/events?filters=" + Escape(filters.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

EventStream::EventStream(EngineHttp& http, const std::string& home, std::function<void(const Event&)> on_event,
                         std::function<void(bool)> on_state)
    : http_(http), path_(EventsPath(home)), on_event_(std::move(on_event)), on_state_(std::move(on_state)), backoff_(kFirstBackoff) {
  http_.loop().Post([this, alive = alive_] {
    if (*alive) Ping();
  });
}

EventStream::~EventStream() {
  http_.loop().Wait([this] {
    *alive_ = false;
    http_.loop().Stop(transfer_);
  });
}

void EventStream::Ping() {
  const Call call{.operation = "ping", .path = "/_ping", .deadline = http_.options().ping_deadline};
  Transfer transfer = http_.Prepare(call, call.path);
  transfer.on_done = [this, alive = alive_, call, since = std::chrono::steady_clock::now()](const Outcome& outcome) {
    if (!*alive) return;
    http_.Observe(call, outcome, since);
    const auto api = NegotiateApi(outcome.Header("api-version"));
    if (outcome.ended != Ended::kComplete || outcome.status >= 400 || !api) return Retry();
    Open(ServerInfoOf(*api, outcome));
  };
  transfer_ = http_.loop().Start(std::move(transfer));
}

void EventStream::Open(const ServerInfo& server) {
  const Call call{.operation = "events", .path = path_, .deadline = std::chrono::milliseconds(0)};
  Transfer transfer = http_.Prepare(call, "/v" + server.api.Text() + call.path);
  splitter_ = LineSplitter();
  const auto answered = std::make_shared<bool>(false);
  transfer.on_headers = [this, alive = alive_, answered](const Outcome& outcome) {
    *answered = true;
    if (*alive && outcome.status < 400) SetUp(true);
  };
  transfer.on_data = [this, alive = alive_](std::string_view bytes) {
    if (!*alive) return Flow::kStop;
    const auto fed = splitter_.Feed(bytes, [&](std::string_view line) { return Line(line) ? Result<>() : Fail(Code::kInternal, "gone"); });
    return fed && *alive ? Flow::kMore : Flow::kStop;
  };
  transfer.on_done = [this, alive = alive_, call, since = std::chrono::steady_clock::now()](const Outcome& outcome) {
    if (!*alive) return;
    http_.Observe(call, outcome, since);
    if (std::chrono::steady_clock::now() - since > kLongestBackoff) backoff_ = kFirstBackoff;  // it stood for a while
    Retry();
  };
  transfer_ = http_.loop().Start(std::move(transfer));
  // Silence is legal once the stream stands, but a hung engine gives no headers either.
  http_.loop().After(http_.options().ping_deadline, [this, alive = alive_, answered, id = transfer_] {
    if (*alive && !*answered) http_.loop().Stop(id);
  });
}

// False when a callback destroyed this stream.
bool EventStream::Line(std::string_view line) {
  const auto alive = alive_;
  backoff_ = kFirstBackoff;
  const auto tell = on_event_;  // a copy: the callback may destroy this stream, and itself with it
  if (const auto event = DecodeEvent(line); event && tell) tell(*event);
  return *alive;
}

void EventStream::Retry() {
  const auto alive = alive_;
  http_.Forget();  // what answers next may be another version
  SetUp(false);
  if (!*alive) return;
  http_.loop().After(backoff_, [this, alive] {
    if (*alive) Ping();
  });
  backoff_ = std::min(backoff_ * 2, kLongestBackoff);
}

void EventStream::SetUp(bool up) {
  const Said now = up ? Said::kUp : Said::kDown;
  const auto tell = on_state_;  // a copy, as above
  if (std::exchange(said_, now) != now && tell) tell(up);
}

}  // namespace beige::runtime::engine
