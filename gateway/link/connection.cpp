#include "gateway/link/connection.h"

#include "gateway/link/caller_session.h"
#include "gateway/link/link.h"
#include "gateway/link/probe_session.h"
#include "gateway/link/v1_codec.h"
#include "gateway/link/v1_session.h"
#include "protocol/v2_codec.h"

namespace beige {
namespace {
constexpr std::chrono::milliseconds kPatience{500};

std::string TooMany(int64_t limit) {
  return "too many connections: the limit is " + std::to_string(limit) + " for each agent; close some or share one for many calls";
}
bool IsJsonStart(char c) { return c == '{' || c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
}  // namespace

Connection::Connection(Link& link, UniqueFd fd) : link_(link), stream_(link.loop_, link.batch_, std::move(fd), this, &link.party_) {}

Connection::~Connection() { link_.party_.Leave(this); }

bool Connection::Take(int cost) {
  if (!waits_ && link_.party_.Take(cost)) return true;
  waits_ = true;
  link_.party_.Wait(this);
  return false;
}

void Connection::OnTurn() {
  waits_ = false;
  if (shut_ || !session_) return;
  link_.party_.Owe(kCallCost);
  WriteBatch& batch = link_.batch_;
  batch.Enter();
  session_->OnTurn();
  batch.Leave();
}

void Connection::StartPatience() {
  patience_ = std::make_unique<Timer>(link_.loop_);
  patience_->Start(kPatience, [this] { link_.Drop(this); });
}

void Connection::Close() {
  stream_.Flush();
  link_.Drop(this);
}

void Connection::CloseWhenSent() { stream_.CloseWhenSent(); }

void Connection::Shut() {
  if (shut_) return;
  shut_ = true;
  link_.party_.Leave(this);
  patience_.reset();
  if (session_) session_->Shut();
  stream_.Flush();
}

void Connection::OnBytes(std::string_view bytes) {
  if (shut_) return;
  if (session_) {
    session_->OnBytes(bytes);
    return;
  }
  // The usual case: a whole v1 request, or a preamble with frames behind it, comes in one piece.
  if (head_.empty() && IsJsonStart(bytes[0]) && link_.Admit(this, /*probe=*/false)) {
    patience_.reset();
    session_ = std::make_unique<V1Session>(*this);
    session_->OnBytes(bytes);
    return;
  }
  head_.append(bytes);
  Sniff();
}

void Connection::Sniff() {
  if (IsJsonStart(head_[0])) {
    v1::AppendError(stream_.Buffer(), "", 125, TooMany(link_.limits_.connections));
    stream_.Commit();
    Close();
    return;
  }
  if (!head_.starts_with(std::string_view(BGE_MAGIC).substr(0, std::min<size_t>(head_.size(), 4)))) {
    stream_.Write("beige: unknown protocol: want a JSON line that starts with { (v1) or BGE2 (v2)\n");
    Close();
    return;
  }
  if (head_.size() < BGE_PREAMBLE_BYTES) return;
  const auto preamble = v2::DecodePreamble(std::string_view(head_).substr(0, BGE_PREAMBLE_BYTES));
  if (!preamble) {
    Close();
    return;
  }
  const v2::Preamble answer = v2::AnswerTo(*preamble);
  stream_.Write(v2::EncodePreamble(answer));
  if (answer.max == 0) {
    Close();
    return;
  }
  if (preamble->role != BGE_ROLE_CALLER && preamble->role != BGE_ROLE_PROBE) {
    Refuse("gateway.sock takes callers and probes; role " + std::to_string(preamble->role) + " belongs on another socket");
    return;
  }
  const bool probe = preamble->role == BGE_ROLE_PROBE;
  if (!link_.Admit(this, probe)) {
    Refuse(TooMany(link_.limits_.connections));
    return;
  }
  if (probe) {
    Become(std::make_unique<ProbeSession>(*this), BGE_PREAMBLE_BYTES);
  } else {
    patience_.reset();
    Become(std::make_unique<CallerSession>(*this), BGE_PREAMBLE_BYTES);
  }
}

void Connection::Become(std::unique_ptr<Session> session, size_t skip) {
  session_ = std::move(session);
  const std::string head = std::exchange(head_, {});
  if (head.size() > skip) session_->OnBytes(std::string_view(head).substr(skip));
}

void Connection::Refuse(std::string_view text) {
  v2::AppendFrame(stream_.Buffer(), 0, BGE_REFUSED, text);
  stream_.Commit();
  Close();
}

void Connection::OnEof() {
  if (shut_) return;
  if (session_) {
    session_->OnEof();
  } else {
    link_.Drop(this);
  }
}

void Connection::OnClosed() { link_.Drop(this); }

void Connection::OnDrained() {
  if (session_ && !shut_) session_->OnDrained();
}

}  // namespace beige
