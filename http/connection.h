#ifndef BEIGE_HTTP_CONNECTION_H_
#define BEIGE_HTTP_CONNECTION_H_

#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/guarded.h"
#include "http/http_server.h"
#include "http/request_reader.h"

namespace beige::http {

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
      if (is_running) boost::asio::post(io, std::move(fn));
    });
  }

  boost::asio::io_context io{1};
  const Limits limits;
  Handler handler;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work{io.get_executor()};
  boost::asio::ip::tcp::acceptor acceptor{io};
  boost::asio::steady_timer back_off{io};
  boost::asio::steady_timer stop_timer{io};
  Guarded<bool> running{true};
  std::map<uint64_t, std::shared_ptr<Connection>> connections;  // owned here until Connection::Close
  uint64_t last_id = 0;
  bool paused = false;
  bool stopping = false;
};

// What a Responder on any thread sees of its exchange.
struct ExchangeState {
  std::atomic<bool> gone{false};
  std::atomic<bool> complete{false};  // Reply or End was called
  std::atomic<size_t> unsent{0};
  // What was written and waits for the server's thread: one posted function takes all of it, however many writes there were. While
  // nothing waits, a piece goes to the kernel from the writer's own thread: handing it over would cost more than sending it.
  struct Written {
    std::string rest;   // of what the kernel took in part, encoded
    std::string bytes;  // not encoded yet
    bool posted = false;
    int direct = -1;    // the socket, while the writer may send on it; closed only after this was taken back, so the lock is held while a piece is sent (never waits)
    bool keep_alive = false;  // what a head says that the writer sends
  };
  Guarded<Written> written;
  std::atomic<bool> begun{false};  // the head of a stream was sent, or is on its way
};

std::shared_ptr<Responder> MakeResponder(std::shared_ptr<Core> core, std::shared_ptr<Connection> connection, std::shared_ptr<ExchangeState> state,
                                         uint64_t exchange);

// One TCP connection: reads one request whole, hands it on, writes its answer, then reads the next. Server's thread only.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Core> core, uint64_t id, boost::asio::ip::tcp::socket socket, std::string remote);

  void Start();
  void Close();
  void Stop();  // the server stops: an answer in flight may finish

  // From the Responder; `exchange` tells answers of earlier requests apart.
  void Reply(uint64_t exchange, Response response);
  void Begin(uint64_t exchange, const Response& head);
  void TakeWritten(uint64_t exchange, ExchangeState& state);
  void End(uint64_t exchange, bool terminated);  // `terminated`: the writer has sent the end himself
  void OnGone(uint64_t exchange, std::function<void()> fn);
  void Dropped(uint64_t exchange);

 private:
  enum class State { kReading, kAnswering, kRefusing, kLingering, kClosed };
  using SteadyClock = std::chrono::steady_clock;

  bool Answers(uint64_t exchange) const { return state_ == State::kAnswering && exchange == exchange_ && !complete_; }
  bool KeepAlive() const { return keep_alive_ && !core_->stopping && !peer_gone_; }
  void NextRequest();
  void Read();
  void Refuse(int status, std::string_view code, std::string_view message);
  void Dispatch();
  void Watch();
  void WatchByPolling();
  void ReadAhead();
  void PeerGone();
  void Append(std::string bytes);
  void Flush();
  void Flushed();
  bool Begun() const { return shared_ && shared_->begun; }
  void AllowDirect();
  void Linger();
  void SetDeadline(std::chrono::milliseconds from_now);
  void ArmTimer(SteadyClock::time_point at);
  void DeadlinePassed();

  std::shared_ptr<Core> core_;
  const uint64_t id_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  const std::string remote_;
  State state_ = State::kReading;
  RequestReader reader_;

  uint64_t exchange_ = 0;
  std::shared_ptr<ExchangeState> shared_;
  std::function<void()> on_gone_;
  bool keep_alive_ = false;
  bool head_only_ = false;
  bool http10_ = false;
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

}  // namespace beige::http

#endif
