#include "gateway/link/caller_session.h"

#include "gateway/link/link.h"
#include "gateway/link/request_rules.h"

namespace beige {
namespace {
// Beyond what Calls admits: a peer that opens calls faster than they are answered is not served.
constexpr size_t kMaxCalls = 4096;
constexpr int kFrameCost = 1;  // of Turns::kShare
}  // namespace

CallerSession::CallerSession(Connection& connection) : connection_(connection) {}

CallerSession::~CallerSession() = default;

void CallerSession::OnBytes(std::string_view bytes) {
  reader_.Feed(bytes);
  if (!later_) TakeFrames();
  // What waits is bounded by what was read at once.
  if (later_ && !shut_) connection_.stream().PauseReading(true);
}

void CallerSession::OnTurn() {
  if (shut_) return;
  later_ = false;
  TakeFrames();
  if (shut_ || later_) return;
  connection_.stream().PauseReading(false);
  if (eof_) connection_.Close();
}

void CallerSession::OnEof() {
  eof_ = true;
  if (!later_) connection_.Close();
}

void CallerSession::TakeFrames() {
  while (!later_) {
    auto frame = reader_.Next();
    if (!frame) {
      Refuse(frame.error().message);
      return;
    }
    if (!*frame) break;
    const int cost = (*frame)->header.kind == BGE_CALL ? Connection::kCallCost : kFrameCost;
    if (!OnFrame(**frame)) return;
    later_ = !connection_.Take(cost);
  }
  over_.clear();
  const size_t held = reader_.buffered();
  if (held == held_) return;
  const bool fits = connection_.link().Hold(held_, held);
  held_ = held;
  if (!fits) Refuse("the link holds more than its limit of " + std::to_string(connection_.link().limits_.buffered_bytes) + " bytes");
}

bool CallerSession::OnFrame(const v2::FrameReader::Frame& frame) {
  const uint32_t number = frame.header.call;
  if (frame.header.kind == BGE_CALL) return OnCall(number, frame.payload);
  if (frame.header.kind == BGE_PING) {
    v2::AppendFrame(connection_.stream().Buffer(), number, BGE_PONG, frame.payload.substr(0, 8));
    connection_.stream().Commit();
    return true;
  }
  const auto it = calls_.find(number);
  if (it == calls_.end()) return true;  // the call has just ended
  CallService& calls = connection_.link().calls_;
  const CallService::Id id = it->second->id;
  switch (frame.header.kind) {
    case BGE_STDIN:
      if (frame.payload.empty()) {
        calls.StdinEof(id);
      } else {
        calls.Stdin(id, frame.payload);
      }
      break;
    case BGE_SIGNAL:
      if (frame.payload.size() == 1) calls.Signal(id, static_cast<unsigned char>(frame.payload[0]));
      break;
    case BGE_RESIZE:
      if (const auto size = v2::DecodeSize(frame.payload)) calls.Resize(id, *size);
      break;
    case BGE_WINDOW:
      if (const auto credit = v2::DecodeWindow(frame.payload)) calls.Credit(id, frame.header.stream, *credit);
      break;
    default: break;  // of a later version
  }
  return !shut_;
}

bool CallerSession::OnCall(uint32_t number, std::string_view payload) {
  if (number == 0 || calls_.contains(number)) return Refuse("protocol: call id " + std::to_string(number) + " can't be used now");
  if (calls_.size() >= kMaxCalls) return Refuse("too many calls on one connection");
  if (payload.size() > BGE_MAX_REQUEST) {
    SendExit(number, BGE_HOW_FAILED, 125, "request of " + std::to_string(payload.size()) + " bytes; the limit is " + std::to_string(BGE_MAX_REQUEST));
    return true;
  }
  const auto fields = v2::DecodeFields(payload);
  if (!fields) return Refuse(fields.error().message);
  CallRequest call;
  call.agent = connection_.link().agent_;
  call.args.reserve(fields->size());
  for (const auto& field : *fields) {
    switch (field.tag) {
      case BGE_TAG_TOOL: call.tool = field.value; break;
      case BGE_TAG_ARG: call.args.emplace_back(field.value); break;
      case BGE_TAG_CWD: call.cwd_claim = field.value; break;
      case BGE_TAG_SESSION: call.session_claim = field.value; break;
      case BGE_TAG_CHANNEL: call.channel_claim = field.value; break;
      case BGE_TAG_FLAGS:
        if (const auto flags = v2::FieldU32(field.value)) call.stdin_open = (*flags & BGE_FLAG_STDIN) != 0;
        break;
      default: break;
    }
  }
  if (auto fits = CheckRequest(call.tool, call.args, {call.cwd_claim, call.session_claim, call.channel_claim}); !fits) {
    SendExit(number, BGE_HOW_FAILED, 125, fits.error().message);
    return true;
  }
  Stream* stream = calls_.emplace(number, std::make_unique<Stream>(*this, number)).first->second.get();
  const CallService::Id id = connection_.link().calls_.Start(std::move(call), stream);
  stream->id = id;  // an ended one waits in over_
  return true;
}

void CallerSession::SendExit(uint32_t number, uint8_t how, int32_t code, std::string_view text) {
  v2::AppendFrame(connection_.stream().Buffer(), number, BGE_EXIT, v2::EncodeExit({how, code, std::string(text)}));
  connection_.stream().Commit();
}

void CallerSession::Stream::OnOutput(uint8_t stream, std::string_view bytes) {
  SocketStream& out = session.connection_.stream();
  v2::AppendFrame(out.Buffer(), number, stream == 1 ? BGE_STDOUT : BGE_STDERR, bytes);
  out.Commit();
}

void CallerSession::Stream::OnStdinCredit(uint32_t bytes) {
  SocketStream& out = session.connection_.stream();
  v2::AppendWindow(out.Buffer(), number, 0, bytes);
  out.Commit();
}

void CallerSession::Stream::OnExit(const CallResult& result) {
  session.SendExit(number, result.how, result.code, result.text);
  const auto it = session.calls_.find(number);
  session.over_.push_back(std::move(it->second));  // this object: it may be on the stack
  session.calls_.erase(it);
}

bool CallerSession::Refuse(std::string_view why) {
  v2::AppendFrame(connection_.stream().Buffer(), 0, BGE_REFUSED, why);
  connection_.stream().Commit();
  connection_.Close();
  return false;
}

void CallerSession::Shut() {
  shut_ = true;
  for (auto& [number, stream] : calls_) connection_.link().calls_.Cancel(stream->id);
  connection_.link().Hold(std::exchange(held_, 0), 0);
}

}  // namespace beige
