#include "gateway/link/v1_session.h"

#include <utility>

#include "gateway/link/link.h"
#include "gateway/link/request_rules.h"

namespace beige {
namespace {
constexpr size_t kPipelined = 16u << 10;
constexpr uint32_t kCreditStep = BGE_WINDOW_INITIAL / 2;
constexpr size_t kLarge = 16u << 10;
constexpr size_t kLong = 64u << 10;

bool Blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }
}  // namespace

V1Session::V1Session(Connection& connection) : connection_(connection) {}

V1Session::~V1Session() = default;

void V1Session::OnBytes(std::string_view bytes) {
  if (running_ || later_ || !input_.empty()) {
    // A long request is not moved from buffer to larger buffer: that stops everybody, and memory that nobody has touched costs nothing.
    if (input_.size() + bytes.size() > kLong) input_.reserve(v1::kMaxLine + kLong);
    input_.append(bytes);
    if (!running_ && !later_) TakeInput();
  } else {
    const size_t used = Take(bytes);
    if (ended_) return;
    if (used < bytes.size()) input_.append(bytes.substr(used));
    searched_ = 0;
  }
  if (ended_) return;
  if (input_.size() > v1::kMaxLine && !running_ && !later_) {
    Fail("", "request longer than the limit of " + std::to_string(v1::kMaxLine) + " bytes");
    ended_ = true;
    connection_.CloseWhenSent();
    return;
  }
  Account();
  if (over_budget_) {
    Fail("", "the link holds more than its limit of " + std::to_string(connection_.link().limits_.buffered_bytes) + " bytes");
    ended_ = true;
    connection_.CloseWhenSent();
    return;
  }
  if (input_.size() > kPipelined && (running_ || later_)) connection_.stream().PauseReading(true);
}

size_t V1Session::Take(std::string_view bytes) {
  taking_ = true;
  size_t start = 0;
  while (!running_ && !ended_) {
    const size_t end = bytes.find('\n', std::max(start, searched_));
    if (end == std::string_view::npos) break;
    if (!std::exchange(paid_, false) && !connection_.Take(Connection::kCallCost)) {
      later_ = true;
      break;
    }
    searched_ = 0;
    const std::string_view line = bytes.substr(start, end - start);
    start = end + 1;
    if (!Blank(line)) Request(line);
  }
  taking_ = false;
  return start;
}

void V1Session::TakeInput() {
  const size_t used = Take(input_);
  if (ended_) return;
  input_.erase(0, used);
  searched_ = running_ || later_ ? 0 : input_.size();
  if (input_.empty() && input_.capacity() > kLong) input_.shrink_to_fit();
  if (eof_ && !running_ && !later_ && !input_.empty()) {
    // The last line of a peer that closed without a newline.
    const std::string line = std::exchange(input_, {});
    taking_ = true;
    if (!Blank(line)) Request(line);
    taking_ = false;
  }
  Account();
  if (!running_ && !later_) {
    connection_.stream().PauseReading(false);
    MaybeDone();
  }
}

void V1Session::OnTurn() {
  if (ended_) return;
  later_ = false;
  paid_ = true;
  if (!running_) TakeInput();
  paid_ = false;
}

void V1Session::Request(std::string_view line) {
  if (line.size() > v1::kMaxLine) {
    Fail("", "request longer than the limit of " + std::to_string(v1::kMaxLine) + " bytes");
    return;
  }
  auto request = v1::Decode(line);
  if (!request) {
    Fail(request.error().id, request.error().message);
    return;
  }
  if (auto fits = CheckRequest(request->tool, request->args, {request->cwd, request->session_key, request->channel}); !fits) {
    Fail(request->id, fits.error().message);
    return;
  }
  CallRequest call;
  call.agent = connection_.link().agent_;
  call.tool = std::move(request->tool);
  call.args = std::move(request->args);
  call.cwd_claim = std::move(request->cwd);
  call.session_claim = std::move(request->session_key);
  call.channel_claim = std::move(request->channel);
  id_ = std::move(request->id);
  running_ = true;
  const CallService::Id id = connection_.link().calls_.Start(std::move(call), this);
  if (running_) call_ = id;
}

void V1Session::Fail(std::string_view id, std::string_view message) {
  v1::AppendError(connection_.stream().Buffer(), id, 125, message);
  connection_.stream().Commit();
}

void V1Session::OnOutput(uint8_t stream, std::string_view bytes) {
  (stream == 1 ? out_ : err_).append(bytes);
  Account();
  if (over_budget_) {
    connection_.link().calls_.Cancel(std::exchange(call_, 0));
    CallResult result;
    result.how = BGE_HOW_FAILED;
    result.code = 125;
    result.text = "output beyond the link's limit of " + std::to_string(connection_.link().limits_.buffered_bytes) + " bytes; protocol v2 streams it";
    out_.clear();
    err_.clear();
    OnExit(result);
    return;
  }
  uint32_t& uncredited = uncredited_[stream - 1];
  uncredited += static_cast<uint32_t>(bytes.size());
  if (uncredited >= kCreditStep && call_ != 0) connection_.link().calls_.Credit(call_, stream, std::exchange(uncredited, 0));
}

void V1Session::OnExit(const CallResult& result) {
  running_ = false;
  call_ = 0;
  uncredited_[0] = uncredited_[1] = 0;
  SocketStream& stream = connection_.stream();
  const int status = result.ExitStatus();
  if (result.how == BGE_HOW_DENIED) {
    v1::AppendError(stream.Buffer(), id_, status, result.text);
  } else {
    std::string error = result.text;
    if (error.empty() && status != 0) error = !err_.empty() ? err_ : "exit status " + std::to_string(status);
    v1::AppendResult(stream.Buffer(), id_, out_, err_, status, error);
  }
  stream.Commit();
  if (out_.size() + err_.size() > kLarge) {
    stream.Flush();
    unsent_ = stream.unsent();
    out_ = {};
    err_ = {};
  } else {
    out_.clear();
    err_.clear();
  }
  if (taking_) return;  // the loop in Take goes on
  Account();
  if (!later_) TakeInput();
}

void V1Session::OnDrained() {
  unsent_ = 0;
  if (!ended_) Account();
}

void V1Session::Account() {
  const size_t now = input_.size() + out_.size() + err_.size() + unsent_;
  if (now == held_) return;
  over_budget_ = !connection_.link().Hold(held_, now);
  held_ = now;
}

void V1Session::OnEof() {
  eof_ = true;
  if (!running_ && !later_) TakeInput();
}

void V1Session::MaybeDone() {
  if (!eof_ || ended_) return;
  ended_ = true;
  connection_.CloseWhenSent();
}

void V1Session::Shut() {
  ended_ = true;
  if (call_ != 0) connection_.link().calls_.Cancel(std::exchange(call_, 0));
  connection_.link().Hold(std::exchange(held_, 0), 0);
}

}  // namespace beige
