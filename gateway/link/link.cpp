#include "gateway/link/link.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/log.h"
#include "base/unix_socket.h"
#include "gateway/link/connection.h"

namespace beige {
namespace {
constexpr int kAcceptsPerTurn = 16;  // accept says EAGAIN when there are no more; this many are rarely there
constexpr int kAcceptCost = 16;      // of Turns::kShare
constexpr int kHeldBytesPerCost = 2048;
// Connections over the limit that may wait to be told so, or to show that they are PID 1's probe.
constexpr size_t kUndecided = 8;
constexpr std::chrono::milliseconds kBackOff{100};
}  // namespace

Result<std::unique_ptr<Link>> Link::Open(Loop& loop, WriteBatch& batch, Party& party, AgentRef agent, const std::string& socket_path,
                                         const LinkLimits& limits, CallService& calls, std::function<void(int)> on_connections) {
  BEIGE_ASSIGN(UniqueFd listener, ListenUnix(socket_path, 0666));
  return std::unique_ptr<Link>(
      new Link(loop, batch, party, std::move(agent), std::move(listener), limits, calls, std::move(on_connections)));
}

Link::Link(Loop& loop, WriteBatch& batch, Party& party, AgentRef agent, UniqueFd listener, const LinkLimits& limits, CallService& calls,
           std::function<void(int)> on_connections)
    : loop_(loop), batch_(batch), party_(party), agent_(std::move(agent)), limits_(limits), calls_(calls), on_connections_(std::move(on_connections)),
      listener_(std::move(listener)), watch_(std::make_unique<FdWatch>(loop, listener_.get())), retry_(loop) {
  StopAccepting(false);
}

Link::~Link() {
  *alive_ = false;
  party_.Leave(&acceptor_);
  while (!connections_.empty()) Drop(connections_.begin()->first);
}

void Link::StopAccepting(bool stop) {
  if (accepting_ == !stop) return;
  accepting_ = !stop;
  if (stop) {
    watch_->OnReadable(nullptr);
  } else {
    watch_->OnReadable([this] { Accept(); });
  }
}

void Link::Accept() {
  for (int i = 0; i < kAcceptsPerTurn && accepting_; ++i) {
    if (party_.Take(kAcceptCost)) {
      if (!AcceptOne()) return;
      continue;
    }
    StopAccepting(true);
    party_.Wait(&acceptor_);
  }
}

void Link::Acceptor::OnTurn() {
  link.party_.Owe(kAcceptCost);
  if (link.AcceptOne()) {
    link.party_.Wait(this);
  } else if (!link.backing_off_) {
    link.StopAccepting(false);
  }
}

bool Link::AcceptOne() {
  UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return false;
    // Out of descriptors or memory: the listener stays readable, so without a pause this would spin.
    LogWarn("link: accept failed; trying again", {{"agent", agent_.ToString()}, {"error", std::system_category().message(errno)}});
    StopAccepting(true);
    backing_off_ = true;
    retry_.Start(kBackOff, [this] { EndBackOff(); });
    return false;
  }
  auto connection = std::make_unique<Connection>(*this, std::move(fd));
  Connection* raw = connection.get();
  connections_.emplace(raw, std::move(connection));
  if (connections_.size() <= static_cast<size_t>(limits_.connections)) {
    raw->set_admitted();
    ++admitted_;
  } else {
    raw->StartPatience();
    undecided_.push_back(raw);
    // Whoever says something at once (PID 1's probe, an honest caller) is heard; a silent flood only pushes itself out.
    if (undecided_.size() > kUndecided) {
      Connection* oldest = undecided_.front();
      oldest->stream().ReadNow();
      if (!undecided_.empty() && undecided_.front() == oldest) Drop(oldest);
    }
  }
  if (on_connections_) on_connections_(1);
  return true;
}

void Link::EndBackOff() {
  if (!std::exchange(backing_off_, false)) return;
  retry_.Cancel();
  StopAccepting(false);
}

bool Link::Admit(Connection* connection, bool probe) {
  if (connection->admitted() || probe) return true;  // a probe stays among the undecided until its nonce is seen
  if (admitted_ >= limits_.connections) return false;
  connection->set_admitted();
  std::erase(undecided_, connection);
  ++admitted_;
  return true;
}

void Link::Drop(Connection* connection) {
  const auto it = connections_.find(connection);
  if (it == connections_.end()) return;
  connection->Shut();
  if (connection->admitted()) --admitted_;
  std::erase(undecided_, connection);
  dead_.push_back(std::move(it->second));
  connections_.erase(it);
  if (on_connections_) on_connections_(-1);
  if (*alive_ && dead_.size() == 1) {
    loop_.Post([this, alive = alive_] {
      if (*alive) dead_.clear();
    });
  }
  if (*alive_) EndBackOff();
}

bool Link::Hold(size_t before, size_t now) {
  // What is kept is copied into memory that has to be made first; giving that back costs about as much.
  party_.Owe(static_cast<int>(std::max(now, before) - std::min(now, before)) / kHeldBytesPerCost);
  held_ += static_cast<int64_t>(now) - static_cast<int64_t>(before);
  return now <= before || held_ <= limits_.buffered_bytes;
}

void Link::ExpectProbe(std::string nonce, std::function<void()> seen) {
  probe_nonce_ = std::move(nonce);
  probe_seen_ = std::move(seen);
}

bool Link::ProbeArrived(std::string_view nonce) {
  if (probe_nonce_.empty() || nonce != probe_nonce_) return false;
  probe_nonce_.clear();
  if (const auto seen = std::exchange(probe_seen_, nullptr)) seen();
  return true;
}

}  // namespace beige
