#include "http/connection.h"

#include <poll.h>

#include "base/log.h"
#include "http/wire.h"

namespace beige::http {
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {
constexpr size_t kReadBytes = 16 << 10;
constexpr size_t kPipelinedBytes = 16 << 10;  // what is read ahead of the answer that is due
constexpr size_t kLingerBytes = 1 << 20;
constexpr milliseconds kLinger{1000};
constexpr milliseconds kStopLinger{100};
constexpr milliseconds kHangUpPoll{250};

asio::mutable_buffer BufferOf(RequestReader::Space space) { return {space.data, space.size}; }
}  // namespace

Connection::Connection(std::shared_ptr<Core> core, uint64_t id, tcp::socket socket, std::string remote)
    : core_(std::move(core)), id_(id), socket_(std::move(socket)), timer_(core_->io), remote_(std::move(remote)), reader_(core_->limits) {}

void Connection::Start() {
  SetDeadline(core_->limits.request_timeout);
  Read();
}

void Connection::Stop() {
  if (state_ == State::kReading || state_ == State::kLingering || peer_gone_) Close();
}

// --- reading ---

void Connection::NextRequest() {
  state_ = State::kReading;
  complete_ = false;
  on_gone_ = nullptr;
  shared_.reset();
  SetDeadline(reader_.buffered() > 0 ? core_->limits.request_timeout : core_->limits.idle_timeout);
  Read();
}

void Connection::Read() {
  switch (reader_.Parse()) {
    case RequestReader::Step::kDone: return Dispatch();
    case RequestReader::Step::kRefused: return Refuse(reader_.refusal().status, "Invalid", reader_.refusal().message);
    case RequestReader::Step::kNeedMore: break;
  }
  if (reader_.TakeContinue()) {
    out_ += "HTTP/1.1 100 Continue\r\n\r\n";
    Flush();
  }
  socket_.async_read_some(BufferOf(reader_.Prepare(kReadBytes)), [self = shared_from_this()](error_code ec, size_t n) {
    if (self->state_ != State::kReading) return;
    if (ec) return self->Close();
    if (!self->reader_.started()) self->SetDeadline(self->core_->limits.request_timeout);
    self->reader_.Commit(n);
    self->Read();
  });
}

// Answers and closes: after a request that was not read to its end nothing that follows can be trusted.
void Connection::Refuse(int status, std::string_view code, std::string_view message) {
  const Response response = ErrorResponse(status, code, message);
  state_ = State::kRefusing;
  complete_ = true;
  keep_alive_ = false;
  SetDeadline(core_->limits.request_timeout);
  out_ += EncodeHead(response, Framing::kLength, response.body.size(), false) + response.body;
  Flush();
}

void Connection::Dispatch() {
  RequestReader::Taken taken = reader_.Take();
  keep_alive_ = taken.keep_alive;
  http10_ = taken.http10;
  head_only_ = taken.head_only;
  taken.request.remote = remote_;

  state_ = State::kAnswering;
  deadline_.reset();
  if (reader_.buffered() == 0) reader_.Discard();
  shared_ = std::make_shared<ExchangeState>();
  AllowDirect();
  const uint64_t exchange = ++exchange_;
  try {
    core_->handler(std::move(taken.request), MakeResponder(core_, shared_from_this(), shared_, exchange));
  } catch (const std::exception& e) {
    LogError("http handler failed", {{"error", e.what()}});  // its responder was dropped with the stack: 500
  }
  if (Answers(exchange)) Watch();
}

// --- noticing that the peer has left while its answer is made ---

void Connection::Watch() {
  if (watching_ || peer_gone_) return;
  watching_ = true;
  if (reader_.buffered() >= kPipelinedBytes) return WatchByPolling();
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code) {
    self->watching_ = false;
    if (self->state_ == State::kAnswering) self->ReadAhead();
  });
}

// Unread bytes hide the end of the stream from a read, but not from poll's RDHUP.
void Connection::WatchByPolling() {
  auto timer = std::make_shared<asio::steady_timer>(core_->io, kHangUpPoll);
  timer->async_wait([self = shared_from_this(), timer](error_code) {
    self->watching_ = false;
    if (self->state_ != State::kAnswering) return;
    pollfd p{self->socket_.native_handle(), POLLRDHUP, 0};
    if (::poll(&p, 1, 0) > 0) return self->PeerGone();
    self->Watch();
  });
}

void Connection::ReadAhead() {
  error_code ec;
  const size_t n = socket_.read_some(BufferOf(reader_.Prepare(4096)), ec);
  reader_.Commit(n);
  if (ec && ec != asio::error::would_block && ec != asio::error::try_again) return PeerGone();
  Watch();
}

// A client that only closed its sending side still gets an answer that comes by itself; whoever asked for OnGone stops its work.
void Connection::PeerGone() {
  if (peer_gone_) return;
  peer_gone_ = true;
  if (shared_) shared_->gone = true;
  SetDeadline(core_->limits.request_timeout);
  if (auto fn = std::exchange(on_gone_, nullptr)) fn();
}

void Connection::OnGone(uint64_t exchange, std::function<void()> fn) {
  if (exchange == exchange_ && state_ == State::kAnswering && complete_) return;
  if (Answers(exchange) && !peer_gone_) {
    on_gone_ = std::move(fn);
    return;
  }
  if (exchange == exchange_ && peer_gone_) fn();
}

// --- answering ---

void Connection::Reply(uint64_t exchange, Response response) {
  if (!Answers(exchange) || Begun()) return;
  const bool keep = KeepAlive();
  std::string bytes = EncodeHead(response, Framing::kLength, response.body.size(), keep);
  if (!head_only_) bytes += response.body;
  keep_alive_ = keep;
  complete_ = true;
  on_gone_ = nullptr;
  Append(std::move(bytes));
}

void Connection::Begin(uint64_t exchange, const Response& head) {
  if (!Answers(exchange) || Begun()) return;
  shared_->begun = true;
  keep_alive_ = KeepAlive() && !http10_;
  Append(EncodeHead(head, http10_ ? Framing::kUntilClose : Framing::kChunked, 0, keep_alive_));
}

void Connection::TakeWritten(uint64_t exchange, ExchangeState& state) {
  ExchangeState::Written taken = state.written.With([](ExchangeState::Written& written) {
    written.posted = false;
    written.direct = -1;
    return ExchangeState::Written{std::exchange(written.rest, {}), std::exchange(written.bytes, {})};
  });
  if (!Answers(exchange) || !Begun() || (taken.rest.empty() && taken.bytes.empty())) return;
  const size_t counted = taken.rest.size() + taken.bytes.size();
  if (!taken.bytes.empty() && !head_only_) taken.rest += http10_ ? taken.bytes : EncodeChunk(taken.bytes);
  Append(std::move(taken.rest));
  shared_->unsent -= counted;  // from now on counted as encoded
}

void Connection::End(uint64_t exchange, bool terminated) {
  if (!Answers(exchange) || !Begun()) return;
  complete_ = true;
  on_gone_ = nullptr;
  Append(terminated || http10_ || head_only_ ? "" : "0\r\n\r\n");
}

void Connection::Dropped(uint64_t exchange) {
  if (!Answers(exchange)) return;
  if (Begun()) return Close();  // cut, so that the peer can't take half a stream for a whole one
  Reply(exchange, ErrorResponse(500, "Internal", "the request was not answered"));
}

void Connection::Append(std::string bytes) {
  if (shared_) shared_->unsent += bytes.size();
  if (out_.empty()) {
    out_ = std::move(bytes);
  } else {
    out_ += bytes;
  }
  if (!write_pending_) SetDeadline(core_->limits.request_timeout);
  Flush();
}

void Connection::Flush() {
  if (write_pending_ || state_ == State::kClosed) return;
  if (written_ == writing_.size()) {
    writing_.clear();
    writing_.swap(out_);
    written_ = 0;
  }
  if (writing_.empty()) return Flushed();
  write_pending_ = true;
  socket_.async_write_some(asio::buffer(writing_.data() + written_, writing_.size() - written_), [self = shared_from_this()](error_code ec, size_t n) {
    self->write_pending_ = false;
    if (self->state_ == State::kClosed) return;
    if (ec) return self->Close();
    self->written_ += n;
    if (self->shared_) self->shared_->unsent -= n;
    if (self->state_ != State::kReading) self->SetDeadline(self->core_->limits.request_timeout);  // per progress, so that only a stuck peer is closed
    self->Flush();
  });
}

void Connection::Flushed() {
  if (state_ == State::kReading) return;  // a 100 Continue went out
  if (!complete_) {
    if (!peer_gone_) deadline_.reset();
    if (Begun()) AllowDirect();  // else a head may be on its way here
    return;
  }
  if (state_ == State::kAnswering && keep_alive_ && !core_->stopping) return NextRequest();
  Linger();
}

// All that was to be sent is with the kernel: from here on the writer may send.
void Connection::AllowDirect() {
  if (head_only_ || http10_ || peer_gone_ || !shared_ || write_pending_ || !out_.empty() || written_ != writing_.size()) return;
  const bool keep = KeepAlive();
  shared_->written.With([&](ExchangeState::Written& written) {
    if (written.posted || !written.rest.empty() || !written.bytes.empty()) return;
    written.direct = socket_.native_handle();
    written.keep_alive = keep;
  });
}

// Closing with unread bytes resets the connection and the peer may lose the answer: send FIN, swallow a bounded rest, then close.
void Connection::Linger() {
  if (state_ != State::kLingering) {
    error_code ec;
    socket_.shutdown(tcp::socket::shutdown_send, ec);
    if (ec || peer_gone_) return Close();
    state_ = State::kLingering;
    SetDeadline(core_->stopping ? kStopLinger : kLinger);
  }
  reader_.Discard();
  socket_.async_read_some(BufferOf(reader_.Prepare(kReadBytes)), [self = shared_from_this()](error_code ec, size_t n) {
    if (self->state_ == State::kClosed) return;
    self->lingered_ += n;
    if (ec || self->lingered_ > kLingerBytes) return self->Close();
    self->Linger();
  });
}

void Connection::Close() {
  if (state_ == State::kClosed) return;
  const bool was_answering = state_ == State::kAnswering && !complete_;
  if (was_answering) PeerGone();
  state_ = State::kClosed;
  if (shared_) {
    shared_->gone = true;
    shared_->written.With([](ExchangeState::Written& written) { written.direct = -1; });
  }
  on_gone_ = nullptr;
  error_code ec;
  socket_.close(ec);
  timer_.cancel();
  core_->Closed(id_);
}

// --- one timer, moved lazily so that a fast exchange never touches it ---

void Connection::SetDeadline(milliseconds from_now) {
  deadline_ = SteadyClock::now() + from_now;
  if (!timer_pending_ || *deadline_ < timer_at_) ArmTimer(*deadline_);
}

void Connection::ArmTimer(SteadyClock::time_point at) {
  timer_pending_ = true;
  timer_at_ = at;
  timer_.expires_at(at);
  timer_.async_wait([self = shared_from_this(), at](error_code ec) {
    if (ec || self->state_ == State::kClosed || at != self->timer_at_) return;
    self->timer_pending_ = false;
    if (!self->deadline_) return;
    if (SteadyClock::now() < *self->deadline_) return self->ArmTimer(*self->deadline_);
    self->DeadlinePassed();
  });
}

void Connection::DeadlinePassed() {
  if (state_ == State::kReading && reader_.started()) {
    return Refuse(408, "Timeout", "the request took longer than " + std::to_string(core_->limits.request_timeout.count()) + " ms to arrive");
  }
  if (write_pending_) {
    // What lies in the kernel's buffers would wait for this reader on its own: reset instead.
    error_code ec;
    socket_.set_option(asio::socket_base::linger(true, 0), ec);
  }
  Close();
}

}  // namespace beige::http
