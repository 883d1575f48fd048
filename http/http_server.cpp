#include "http/http_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/log.h"
#include "http/connection.h"
#include "http/listen_socket.h"
#include "http/wire.h"

namespace beige::http {
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {
constexpr milliseconds kAcceptBackOff{100};
constexpr milliseconds kStopGrace{1000};

class Exchange final : public Responder {
 public:
  Exchange(std::shared_ptr<Core> core, std::shared_ptr<Connection> connection, std::shared_ptr<ExchangeState> shared, uint64_t id)
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
  void Begin(Response head, std::string first) override {
    const bool sent = shared_->written.With([&](ExchangeState::Written& written) {
      if (written.direct < 0) return false;
      shared_->begun = true;
      std::string bytes = EncodeHead(head, Framing::kChunked, 0, written.keep_alive);
      if (!first.empty()) bytes += EncodeChunk(first);
      Send(written, std::move(bytes));
      return true;
    });
    if (sent) return PostRest();
    core_->Post([connection = connection_, id = id_, head = std::move(head)] { connection->Begin(id, head); });
    (void)Write(std::move(first));
  }
  bool Write(std::string bytes) override {
    if (shared_->gone) return false;
    if (bytes.empty()) return true;
    if (shared_->unsent.load() + bytes.size() > core_->limits.unsent_bytes) return false;
    shared_->written.With([&](ExchangeState::Written& written) {
      if (written.direct >= 0 && shared_->begun) return Send(written, EncodeChunk(bytes));
      shared_->unsent += bytes.size();
      if (written.bytes.empty()) {
        written.bytes = std::move(bytes);
      } else {
        written.bytes += bytes;
      }
    });
    PostRest();
    return true;
  }
  size_t unsent() const override { return shared_->unsent; }
  void End(std::string last) override {
    const bool terminated = shared_->written.With([&](ExchangeState::Written& written) {
      if (written.direct < 0 || !shared_->begun) return false;
      std::string bytes = last.empty() ? std::string() : EncodeChunk(last);
      Send(written, bytes += "0\r\n\r\n");
      return true;
    });
    if (!terminated) (void)Write(std::move(last));
    shared_->complete = true;
    core_->Post([connection = connection_, id = id_, shared = shared_, terminated] {
      connection->TakeWritten(id, *shared);  // another thread may have written, and not yet come to post it
      connection->End(id, terminated);
    });
  }
  void OnGone(std::function<void()> fn) override {
    core_->Post([connection = connection_, id = id_, fn = std::move(fn)]() mutable { connection->OnGone(id, std::move(fn)); });
  }

 private:
  // As much as the kernel takes at once; the rest is the server's thread's, and so is all that follows. The lock is held.
  void Send(ExchangeState::Written& written, std::string bytes) {
    const ssize_t n = ::send(written.direct, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    const size_t sent = n > 0 ? static_cast<size_t>(n) : 0;  // what is wrong with the socket the server's thread finds out
    if (sent == bytes.size()) return;
    bytes.erase(0, sent);
    shared_->unsent += bytes.size();
    written.rest = std::move(bytes);
    written.direct = -1;
  }
  // Has the server's thread take what waits, if something does.
  void PostRest() {
    const bool post = shared_->written.With([](ExchangeState::Written& written) {
      return !(written.rest.empty() && written.bytes.empty()) && !std::exchange(written.posted, true);
    });
    if (post) core_->Post([connection = connection_, id = id_, shared = shared_] { connection->TakeWritten(id, *shared); });
  }

  std::shared_ptr<Core> core_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<ExchangeState> shared_;
  const uint64_t id_;
};
}  // namespace

std::shared_ptr<Responder> MakeResponder(std::shared_ptr<Core> core, std::shared_ptr<Connection> connection, std::shared_ptr<ExchangeState> state,
                                         uint64_t exchange) {
  return std::make_shared<Exchange>(std::move(core), std::move(connection), std::move(state), exchange);
}

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

namespace {
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
