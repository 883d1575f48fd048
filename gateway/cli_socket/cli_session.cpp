#include "gateway/cli_socket/cli_session.h"

#include <algorithm>

#include "gateway/cli_socket/exec_request.h"
#include "gateway/roster/roster.h"

namespace beige {
namespace {
constexpr size_t kMaxExecs = 256;
}

void CliExec::OnOutput(uint8_t stream, std::string_view bytes) {
  if (session == nullptr) {
    calls.Credit(id, stream, static_cast<uint32_t>(bytes.size()));
    return;
  }
  v2::AppendFrame(session->stream_.Buffer(), number, stream == 1 ? BGE_STDOUT : BGE_STDERR, bytes);
  session->stream_.Commit();
}

void CliExec::OnStdinCredit(uint32_t bytes) {
  if (session == nullptr) return;
  v2::AppendWindow(session->stream_.Buffer(), number, 0, bytes);
  session->stream_.Commit();
}

void CliExec::OnExit(const CallResult& result) {
  if (session == nullptr) {
    if (on_over) on_over();
    return;
  }
  session->SendExit(number, result.how, result.code, result.text);
  session->Over(number);
}

CliSession::CliSession(Loop& loop, WriteBatch& batch, UniqueFd fd, Roster& roster, CallService& calls, Owner& owner)
    : roster_(roster), calls_(calls), owner_(owner), stream_(loop, batch, std::move(fd), this) {}

CliSession::~CliSession() {
  for (auto& [number, exec] : execs_) calls_.Cancel(exec->id);
}

void CliSession::OnBytes(std::string_view bytes) {
  if (ended_) return;
  if (!agreed_) {
    const size_t take = std::min(bytes.size(), BGE_PREAMBLE_BYTES - preamble_.size());
    preamble_.append(bytes.substr(0, take));
    bytes.remove_prefix(take);
    if (preamble_.size() < BGE_PREAMBLE_BYTES || !TakePreamble()) return;
  }
  reader_.Feed(bytes);
  while (!ended_) {
    const auto frame = reader_.Next();
    if (!frame) return Refuse(frame.error().message);
    if (!*frame) break;
    OnFrame(**frame);
  }
  over_.clear();
}

bool CliSession::TakePreamble() {
  const auto preamble = v2::DecodePreamble(preamble_);
  if (!preamble) {
    stream_.Write("beige: unknown protocol: want BGE2 (v2)\n");
    End();
    return false;
  }
  const v2::Preamble answer = v2::AnswerTo(*preamble);
  stream_.Write(v2::EncodePreamble(answer));
  if (answer.max == 0) {
    End();
    return false;
  }
  if (preamble->role != BGE_ROLE_CLI) {
    Refuse("cli.sock takes role " + std::to_string(BGE_ROLE_CLI) + ", got " + std::to_string(preamble->role));
    return false;
  }
  agreed_ = true;
  return true;
}

void CliSession::OnFrame(const v2::FrameReader::Frame& frame) {
  const uint32_t number = frame.header.call;
  if (frame.header.kind == BGE_EXEC) return OnExec(number, frame.payload);
  if (frame.header.kind == BGE_PING) {
    v2::AppendFrame(stream_.Buffer(), number, BGE_PONG, frame.payload.substr(0, 8));
    stream_.Commit();
    return;
  }
  const auto found = execs_.find(number);
  if (found == execs_.end()) return;  // it has just ended
  const CallService::Id id = found->second->id;
  switch (frame.header.kind) {
    case BGE_STDIN:
      if (frame.payload.empty()) {
        calls_.StdinEof(id);
      } else {
        calls_.Stdin(id, frame.payload);
      }
      break;
    case BGE_SIGNAL:
      if (frame.payload.size() == 1) calls_.Signal(id, static_cast<unsigned char>(frame.payload[0]));
      break;
    case BGE_RESIZE:
      if (const auto size = v2::DecodeSize(frame.payload)) calls_.Resize(id, *size);
      break;
    case BGE_WINDOW:
      if (const auto credit = v2::DecodeWindow(frame.payload)) calls_.Credit(id, frame.header.stream, *credit);
      break;
    default: break;  // of a newer CLI
  }
}

void CliSession::OnExec(uint32_t number, std::string_view payload) {
  if (number == 0 || execs_.contains(number)) return Refuse("protocol: call id " + std::to_string(number) + " can't be used now");
  if (execs_.size() >= kMaxExecs) return SendExit(number, BGE_HOW_FAILED, 125, "more than " + std::to_string(kMaxExecs) + " commands on one connection");
  auto request = DecodeExecRequest(payload);
  if (!request) return SendExit(number, BGE_HOW_FAILED, 125, request.error().message);
  const auto view = roster_.Find(request->agent);
  if (!view) {
    return SendExit(number, BGE_HOW_FAILED, 125, "no agent " + request->agent.name + " in namespace " + request->agent.namespace_);
  }
  request->call.agent = view->grant.agent;
  CliExec* exec = execs_.emplace(number, std::make_unique<CliExec>(this, calls_, number)).first->second.get();
  exec->detached = request->call.detached;
  const CallService::Id id = calls_.Start(std::move(request->call), exec);
  exec->id = id;  // an ended one waits in over_
}

void CliSession::SendExit(uint32_t number, uint8_t how, int32_t code, std::string_view text) {
  v2::AppendFrame(stream_.Buffer(), number, BGE_EXIT, v2::EncodeExit({how, code, std::string(text)}));
  stream_.Commit();
}

void CliSession::Refuse(std::string_view why) {
  v2::AppendFrame(stream_.Buffer(), 0, BGE_REFUSED, why);
  stream_.Commit();
  End();
}

void CliSession::Over(uint32_t number) {
  const auto found = execs_.find(number);
  if (found == execs_.end()) return;
  over_.push_back(std::move(found->second));
  execs_.erase(found);
}

void CliSession::End() {
  if (ended_) return;
  ended_ = true;
  stream_.Flush();
  stream_.PauseReading(true);
  auto execs = std::move(execs_);
  execs_.clear();
  for (auto& [number, exec] : execs) {
    if (exec->detached) {
      exec->session = nullptr;
      owner_.Adopt(std::move(exec));
    } else {
      calls_.Cancel(exec->id);
      over_.push_back(std::move(exec));
    }
  }
  owner_.Ended(this);
}

}  // namespace beige
