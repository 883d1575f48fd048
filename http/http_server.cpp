#include "http/http_server.h"

#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <thread>

#include "base/guarded.h"
#include "base/log.h"
#include "http/listen_socket.h"
#include "http/wire.h"

namespace beige::http {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
using boost::system::error_code;
using asio::ip::tcp;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

namespace {
constexpr size_t kReadBytes = 16 << 10;
constexpr size_t kPipelinedBytes = 16 << 10;  // what is read ahead of the answer that is due
constexpr size_t kLingerBytes = 1 << 20;
constexpr milliseconds kLinger{1000};
constexpr milliseconds kStopLinger{100};
constexpr milliseconds kAcceptBackOff{100};
constexpr milliseconds kHangUpPoll{250};
constexpr milliseconds kStopGrace{1000};

class Connection;

// Everything that the server's thread owns. Lives until the last Responder has gone.
struct Core : std::enable_shared_from_this<Core> {
  Core(const Limits& l, Handler h) : limits(l), handler(std::move(h)) {}

  void Accept();
  void AcceptReady();
  void Closed(uint64_t id);
  void Stop();
  void Run();

  // On the server's thread at once, from any other thread by posting; dropped after the server has stopped.
  template <typename F>
  void Post(F fn) {
    if (io.get_executor().running_in_this_thread()) {
      fn();
      return;
    }
    PostBehind(std::move(fn));
  }
  // Behind whatever was posted before, from any thread.
  template <typename F>
  void PostBehind(F fn) {
    running.With([&](bool& is_running) {
      if (is_running) asio::post(io, std::move(fn));
    });
  }

  asio::io_context io{1};
  const Limits limits;
  Handler handler;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work{io.get_executor()};
  tcp::acceptor acceptor{io};
  asio::steady_timer back_off{io};
  asio::steady_timer stop_timer{io};
  Guarded<bool> running{true};
  std::map<uint64_t, std::shared_ptr<Connection>> connections;  // owned here until Connection::Close
  uint64_t last_id = 0;
  bool paused = false;
  bool stopping = false;
};

// What a Responder on any thread sees of its exchange.
struct Shared {
  std::atomic<bool> gone{false};
  std::atomic<bool> complete{false};  // Reply or End was called
  std::atomic<size_t> unsent{0};
};

// One TCP connection: reads one request whole, hands it on, writes its answer, then reads the next. Server's thread only.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Core> core, uint64_t id, tcp::socket socket, std::string remote)
      : core_(std::move(core)), id_(id), socket_(std::move(socket)), timer_(core_->io), remote_(std::move(remote)) {}

  void Start() {
    SetDeadline(core_->limits.request_timeout);
    Read();
  }
  void Close();
  void Stop() {
    if (state_ == State::kReading || state_ == State::kLingering || peer_gone_) Close();
  }

  // From the Responder; `exchange` tells answers of earlier requests apart.
  void Reply(uint64_t exchange, Response response);
  void Begin(uint64_t exchange, Response head);
  void Write(uint64_t exchange, std::string_view bytes);
  void End(uint64_t exchange);
  void OnGone(uint64_t exchange, std::function<void()> fn);
  void Dropped(uint64_t exchange);

 private:
  enum class State { kReading, kAnswering, kRefusing, kLingering, kClosed };
  using Parser = bhttp::request_parser<bhttp::string_body>;

  bool Answers(uint64_t exchange) const { return state_ == State::kAnswering && exchange == exchange_ && !complete_; }
  bool KeepAlive() const { return keep_alive_ && !core_->stopping && !peer_gone_; }
  void NextRequest();
  void Read();
  bool Parse();
  bool HeaderIsGood();
  void RefuseParse(const error_code& ec);
  void Refuse(int status, std::string_view code, std::string_view message);
  void Dispatch();
  void Watch();
  void WatchByPolling();
  void ReadAhead();
  void PeerGone();
  void Append(std::string bytes);
  void Flush();
  void Flushed();
  void Linger();
  void SetDeadline(milliseconds from_now);
  void ArmTimer(SteadyClock::time_point at);
  void DeadlinePassed();

  std::shared_ptr<Core> core_;
  const uint64_t id_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  std::string remote_;
  State state_ = State::kReading;
  beast::flat_buffer in_;
  std::optional<Parser> parser_;
  bool header_checked_ = false;
  bool got_bytes_ = false;  // of the request being read

  uint64_t exchange_ = 0;
  std::shared_ptr<Shared> shared_;
  std::function<void()> on_gone_;
  bool keep_alive_ = false;
  bool head_only_ = false;
  bool http10_ = false;
  bool begun_ = false;
  bool complete_ = false;
  bool peer_gone_ = false;
  bool watching_ = false;

  std::string out_;
  std::string writing_;
  size_t written_ = 0;
  bool write_pending_ = false;
  size_t lingered_ = 0;

  std::optional<SteadyClock::time_point> deadline_;
  SteadyClock::time_point timer_at_;
  bool timer_pending_ = false;
};

class Exchange final : public Responder {
 public:
  Exchange(std::shared_ptr<Core> core, std::shared_ptr<Connection> connection, std::shared_ptr<Shared> shared, uint64_t id)
      : core_(std::move(core)), connection_(std::move(connection)), shared_(std::move(shared)), id_(id) {}
  ~Exchange() override {
    // The connection's last reference must go on the server's thread. The last holder of this may be that thread while another's Reply
    // is still on its way there: "dropped" must queue up behind it.
    Core& core = *core_;
    if (shared_->complete) {
      core.Post([core_ref = std::move(core_), connection = std::move(connection_)] {});
    } else {
      core.PostBehind([core_ref = std::move(core_), connection = std::move(connection_), id = id_] { connection->Dropped(id); });
    }
  }
  void Reply(Response response) override {
    shared_->complete = true;
    core_->Post([connection = connection_, id = id_, response = std::move(response)]() mutable { connection->Reply(id, std::move(response)); });
  }
  void Begin(Response head) override {
    core_->Post([connection = connection_, id = id_, head = std::move(head)]() mutable { connection->Begin(id, std::move(head)); });
  }
  bool Write(std::string bytes) override {
    if (shared_->gone) return false;
    if (bytes.empty()) return true;
    if (shared_->unsent.fetch_add(bytes.size()) + bytes.size() > core_->limits.unsent_bytes) {
      shared_->unsent -= bytes.size();
      return false;
    }
    core_->Post([connection = connection_, id = id_, bytes = std::move(bytes)] { connection->Write(id, bytes); });
    return true;
  }
  void End() override {
    shared_->complete = true;
    core_->Post([connection = connection_, id = id_] { connection->End(id); });
  }
  void OnGone(std::function<void()> fn) override {
    core_->Post([connection = connection_, id = id_, fn = std::move(fn)]() mutable { connection->OnGone(id, std::move(fn)); });
  }

 private:
  std::shared_ptr<Core> core_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<Shared> shared_;
  const uint64_t id_;
};

// --- connection: reading ---

void Connection::NextRequest() {
  state_ = State::kReading;
  complete_ = begun_ = false;
  on_gone_ = nullptr;
  shared_.reset();
  SetDeadline(in_.size() > 0 ? core_->limits.request_timeout : core_->limits.idle_timeout);
  Read();
}

void Connection::Read() {
  if (!parser_) {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(core_->limits.header_bytes));
    parser_->body_limit(core_->limits.body_bytes);
    parser_->eager(false);
    header_checked_ = false;
    got_bytes_ = in_.size() > 0;
  }
  if (!Parse()) return;
  // A chunk extension or trailer that never ends leaves unparsed bytes behind; they are bounded as a header is.
  if (in_.size() >= core_->limits.header_bytes + kReadBytes) return Refuse(431, "Invalid", "a header or chunk line is too long");
  socket_.async_read_some(in_.prepare(kReadBytes), [self = shared_from_this()](error_code ec, size_t n) {
    if (self->state_ != State::kReading) return;
    if (ec) return self->Close();
    self->in_.commit(n);
    if (!self->got_bytes_) {
      self->got_bytes_ = true;
      self->SetDeadline(self->core_->limits.request_timeout);
    }
    self->Read();
  });
}

// True when more bytes are needed; false when the request was dispatched or refused.
bool Connection::Parse() {
  while (in_.size() > 0) {
    error_code ec;
    const size_t used = parser_->put(in_.data(), ec);
    in_.consume(used);
    if (ec && ec != bhttp::error::need_more) {
      RefuseParse(ec);
      return false;
    }
    if (!header_checked_ && parser_->is_header_done()) {
      if (!HeaderIsGood()) return false;
      header_checked_ = true;
      parser_->eager(true);
    }
    if (parser_->is_done()) {
      Dispatch();
      return false;
    }
    if (ec == bhttp::error::need_more || used == 0) return true;
  }
  return true;
}

bool Connection::HeaderIsGood() {
  const auto& message = parser_->get();
  const auto refuse = [this](int status, std::string_view why) {
    Refuse(status, "Invalid", why);
    return false;
  };
  const auto target = message.target();
  if (target.empty() || (target.front() != '/' && !(target == "*" && message.method() == bhttp::verb::options))) {
    return refuse(400, "the request's target must be a path that starts with /");
  }
  const size_t hosts = message.count(bhttp::field::host);
  if (hosts > 1 || (hosts == 0 && message.version() >= 11)) return refuse(400, "want exactly one Host header");
  if (const size_t n = message.count(bhttp::field::transfer_encoding); n > 0) {
    if (message.version() < 11) return refuse(400, "HTTP/1.0 has no Transfer-Encoding");
    if (n > 1 || !beast::iequals(message[bhttp::field::transfer_encoding], "chunked")) return refuse(501, "the only Transfer-Encoding known here is chunked");
    if (message.count(bhttp::field::content_length) > 0) return refuse(400, "Content-Length and Transfer-Encoding exclude each other");
  }
  if (message.count(bhttp::field::content_length) > 1) return refuse(400, "want at most one Content-Length header");
  if (const auto expect = message[bhttp::field::expect]; !expect.empty()) {
    if (!beast::iequals(expect, "100-continue")) return refuse(417, "the only expectation known here is 100-continue");
    if (message.version() >= 11 && !parser_->is_done() && in_.size() == 0) {
      out_ += "HTTP/1.1 100 Continue\r\n\r\n";
      Flush();
    }
  }
  return true;
}

void Connection::RefuseParse(const error_code& ec) {
  const Limits& limits = core_->limits;
  if (ec == bhttp::error::body_limit) {
    return Refuse(413, "Invalid", "the body is larger than the limit of " + std::to_string(limits.body_bytes) + " bytes");
  }
  if (ec == bhttp::error::header_limit || ec == bhttp::error::buffer_overflow) {
    return Refuse(431, "Invalid", "the headers are larger than the limit of " + std::to_string(limits.header_bytes) + " bytes");
  }
  Refuse(400, "Invalid", "malformed request: " + ec.message());
}

// Answers and closes: after a request that was not read to its end nothing that follows can be trusted.
void Connection::Refuse(int status, std::string_view code, std::string_view message) {
  const Response response = ErrorResponse(status, code, message);
  state_ = State::kRefusing;
  complete_ = true;
  keep_alive_ = false;
  parser_.reset();
  SetDeadline(core_->limits.request_timeout);
  out_ += EncodeHead(response, Framing::kLength, response.body.size(), false) + response.body;
  Flush();
}

void Connection::Dispatch() {
  auto message = parser_->release();
  keep_alive_ = message.keep_alive();
  http10_ = message.version() < 11;
  head_only_ = message.method() == bhttp::verb::head;
  parser_.reset();

  Request request;
  request.method = std::string(message.method_string());
  const std::string_view target(message.target().data(), message.target().size());
  const size_t question = target.find('?');
  request.path = std::string(target.substr(0, question));
  if (question != std::string_view::npos) request.query = std::string(target.substr(question + 1));
  for (const auto& field : message) {
    std::string name(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    request.headers.emplace_back(std::move(name), std::string(field.value()));
  }
  request.body = std::move(message.body());
  request.remote = remote_;

  state_ = State::kAnswering;
  deadline_.reset();
  shared_ = std::make_shared<Shared>();
  const uint64_t exchange = ++exchange_;
  auto responder = std::make_shared<Exchange>(core_, shared_from_this(), shared_, exchange);
  try {
    core_->handler(std::move(request), std::move(responder));
  } catch (const std::exception& e) {
    LogError("http handler failed", {{"error", e.what()}});  // its responder was dropped with the stack: 500
  }
  if (Answers(exchange)) Watch();
}

// --- connection: noticing that the peer has left while its answer is made ---

void Connection::Watch() {
  if (watching_ || peer_gone_) return;
  watching_ = true;
  if (in_.size() >= kPipelinedBytes) return WatchByPolling();
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
  const size_t n = socket_.read_some(in_.prepare(4096), ec);
  in_.commit(n);
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

// --- connection: answering ---

void Connection::Reply(uint64_t exchange, Response response) {
  if (!Answers(exchange) || begun_) return;
  const bool keep = KeepAlive();
  std::string bytes = EncodeHead(response, Framing::kLength, response.body.size(), keep);
  if (!head_only_) bytes += response.body;
  keep_alive_ = keep;
  complete_ = true;
  on_gone_ = nullptr;
  Append(std::move(bytes));
}

void Connection::Begin(uint64_t exchange, Response head) {
  if (!Answers(exchange) || begun_) return;
  begun_ = true;
  keep_alive_ = KeepAlive() && !http10_;
  Append(EncodeHead(head, http10_ ? Framing::kUntilClose : Framing::kChunked, 0, keep_alive_));
}

void Connection::Write(uint64_t exchange, std::string_view bytes) {
  if (!Answers(exchange) || !begun_) return;
  if (!head_only_) Append(http10_ ? std::string(bytes) : EncodeChunk(bytes));
  shared_->unsent -= bytes.size();  // from now on counted as encoded
}

void Connection::End(uint64_t exchange) {
  if (!Answers(exchange) || !begun_) return;
  complete_ = true;
  on_gone_ = nullptr;
  Append(http10_ || head_only_ ? "" : "0\r\n\r\n");
}

void Connection::Dropped(uint64_t exchange) {
  if (!Answers(exchange)) return;
  if (begun_) return Close();  // cut, so that the peer can't take half a stream for a whole one
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
    return;
  }
  if (state_ == State::kAnswering && keep_alive_ && !core_->stopping) return NextRequest();
  Linger();
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
  in_.clear();
  socket_.async_read_some(in_.prepare(kReadBytes), [self = shared_from_this()](error_code ec, size_t n) {
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
  if (shared_) shared_->gone = true;
  on_gone_ = nullptr;
  error_code ec;
  socket_.close(ec);
  timer_.cancel();
  core_->Closed(id_);
}

// --- connection: one timer, moved lazily so that a fast exchange never touches it ---

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
  if (state_ == State::kReading && got_bytes_) {
    return Refuse(408, "Timeout", "the request took longer than " + std::to_string(core_->limits.request_timeout.count()) + " ms to arrive");
  }
  if (write_pending_) {
    // What lies in the kernel's buffers would wait for this reader on its own: reset instead.
    error_code ec;
    socket_.set_option(asio::socket_base::linger(true, 0), ec);
  }
  Close();
}

// --- the server ---

void Core::Accept() {
  acceptor.async_wait(tcp::acceptor::wait_read, [self = shared_from_this()](error_code ec) {
    if (!ec && !self->stopping) self->AcceptReady();
  });
}

void Core::AcceptReady() {
  for (;;) {
    if (connections.size() >= static_cast<size_t>(limits.connections)) {
      paused = true;  // Closed() goes on
      return;
    }
    int error = 0;
    AcceptedSocket accepted = AcceptTcp(acceptor.native_handle(), error);
    if (error == EAGAIN || error == EWOULDBLOCK) return Accept();
    if (error == EINTR || error == ECONNABORTED) continue;
    if (error != 0) {
      // Out of descriptors or memory: the listener stays readable, so waiting for it would spin.
      back_off.expires_after(kAcceptBackOff);
      back_off.async_wait([self = shared_from_this()](error_code ec) {
        if (!ec && !self->stopping) self->AcceptReady();
      });
      return;
    }
    tcp::socket socket(io);
    error_code ec;
    socket.assign(acceptor.local_endpoint(ec).protocol(), accepted.fd.get(), ec);
    if (ec) continue;
    accepted.fd.Release();
    socket.non_blocking(true, ec);
    const uint64_t id = ++last_id;
    auto connection = std::make_shared<Connection>(shared_from_this(), id, std::move(socket), std::move(accepted.remote));
    connections.emplace(id, connection);
    connection->Start();
  }
}

void Core::Closed(uint64_t id) {
  connections.erase(id);
  if (stopping) {
    if (connections.empty()) stop_timer.cancel();
  } else if (std::exchange(paused, false)) {
    // Not at once: the closing connection is still on the stack.
    asio::post(io, [self = shared_from_this()] {
      if (!self->stopping && !self->paused) self->Accept();
    });
  }
}

void Core::Stop() {
  stopping = true;
  work.reset();
  error_code ec;
  acceptor.close(ec);
  back_off.cancel();
  const auto all = connections;  // Stop() and Close() erase
  for (const auto& [id, connection] : all) connection->Stop();
  if (connections.empty()) return;
  stop_timer.expires_after(kStopGrace);
  stop_timer.async_wait([self = shared_from_this()](error_code) {
    const auto rest = self->connections;
    for (const auto& [id, connection] : rest) connection->Close();
  });
}

void Core::Run() {
  for (;;) {
    try {
      io.run();
      break;
    } catch (const std::exception& e) {
      LogError("http: unexpected failure", {{"error", e.what()}});
    }
  }
  running.Set(false);
  // What was posted before the flag fell.
  io.restart();
  io.poll();
}

class ServerImpl final : public Server {
 public:
  ServerImpl(std::shared_ptr<Core> core, uint16_t port) : core_(std::move(core)), port_(port), thread_([c = core_] { c->Run(); }) {}
  ~ServerImpl() override {
    core_->Post([core = core_] { core->Stop(); });
    thread_.join();
    core_->handler = nullptr;
  }
  uint16_t port() const override { return port_; }

 private:
  std::shared_ptr<Core> core_;
  const uint16_t port_;
  std::thread thread_;
};
}  // namespace

Result<std::unique_ptr<Server>> Server::Start(const std::string& host, uint16_t port, const Limits& limits, Handler handler) {
  BEIGE_ASSIGN(BoundSocket bound, ListenTcp(host, port));
  auto core = std::make_shared<Core>(limits, std::move(handler));
  error_code ec;
  core->acceptor.assign(bound.ipv6 ? tcp::v6() : tcp::v4(), bound.fd.get(), ec);
  if (ec) return Fail(Code::kInternal, "listen on " + HostPort(host, port) + ": " + ec.message());
  bound.fd.Release();
  core->acceptor.non_blocking(true, ec);
  core->Accept();
  return std::unique_ptr<Server>(std::make_unique<ServerImpl>(std::move(core), bound.port));
}

}  // namespace beige::http
