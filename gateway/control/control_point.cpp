#include "gateway/control/control_point.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/random.h"
#include "base/unix_socket.h"
#include "gateway/control/peer_check.h"

namespace beige {
namespace {
// Peers that have not said hello yet; more wait in the backlog.
constexpr size_t kMaxCallers = 8;
constexpr std::chrono::milliseconds kBackOff{100};
}  // namespace

// One connection, a stranger until its hello is accepted.
class ControlPoint::Peer final : public JobChannelOwner {
 public:
  Peer(ControlPoint& point, UniqueFd fd) : point_(point), channel_(point.loop_, point.batch_, std::move(fd), this, point.options_.party), patience_(point.loop_) {
    patience_.Start(point.options_.hello_within, [this] { channel_.Close("no hello in time"); });
  }
  JobChannel& channel() { return channel_; }
  void Registered() { patience_.Cancel(); }

 private:
  void OnHello(const Hello& hello) override { point_.OnHello(this, hello); }
  void OnProbed(std::string_view nonce) override { point_.OnProbed(this, nonce); }
  void OnDown(std::string_view why) override {
    patience_.Cancel();
    point_.OnDown(this, why);
  }

  ControlPoint& point_;
  JobChannel channel_;
  Timer patience_;
};

Result<std::unique_ptr<ControlPoint>> ControlPoint::Open(Loop& loop, WriteBatch& batch, const Clock& clock,
                                                         const std::string& socket_path, const std::string& key_file,
                                                         ControlEvents* events, ControlOptions options) {
  if (!options.check_peer) options.check_peer = CheckPeerIsInit;
  BEIGE_ASSIGN(Registration registration, Registration::Load(key_file));
  BEIGE_ASSIGN(UniqueFd listener, ListenUnix(socket_path, 0666));
  return std::unique_ptr<ControlPoint>(
      new ControlPoint(loop, batch, clock, std::move(listener), std::move(registration), events, std::move(options)));
}

ControlPoint::ControlPoint(Loop& loop, WriteBatch& batch, const Clock& clock, UniqueFd listener, Registration registration,
                           ControlEvents* events, ControlOptions options)
    : loop_(loop), batch_(batch), clock_(clock), listener_(std::move(listener)), registration_(std::move(registration)), events_(events),
      options_(std::move(options)), watch_(loop, listener_.get()), accept_retry_(loop), tick_(loop), probe_timeout_(loop) {
  watch_.OnReadable([this] { Accept(); });
}

ControlPoint::~ControlPoint() {
  *alive_ = false;
  events_ = nullptr;
}

JobChannel* ControlPoint::channel() const { return holder_ ? &holder_->channel() : nullptr; }

void ControlPoint::Accept() {
  if (callers_.size() >= kMaxCallers) {
    watch_.OnReadable(nullptr);  // until one is gone
    return;
  }
  UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    watch_.OnReadable(nullptr);
    accept_retry_.Start(kBackOff, [this] { watch_.OnReadable([this] { Accept(); }); });
    return;
  }
  // Strangers are seen off at the door, so that they can't keep PID 1 waiting for a place.
  if (auto checked = options_.check_peer(fd.get()); !checked) {
    std::string last_word = v2::EncodePreamble({BGE_VERSION_MAX, BGE_VERSION_MAX, BGE_ROLE_CONTROL, BGE_FEATURES});
    v2::AppendFrame(last_word, 0, BGE_REFUSED, checked.error().message);
    (void)::send(fd.get(), last_word.data(), last_word.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    Stranger(checked.error().message);
    return;
  }
  callers_.push_back(std::make_unique<Peer>(*this, std::move(fd)));
}

void ControlPoint::OnHello(Peer* peer, const JobChannelOwner::Hello& hello) {
  const Result<> admitted = registration_.Admit(hello.key, hello.instance);
  if (!admitted) {
    if (admitted.error().code == Code::kDenied) Stranger(admitted.error().message);
    peer->channel().Refuse(admitted.error().message);
    return;
  }
  const auto it = std::find_if(callers_.begin(), callers_.end(), [&](const auto& caller) { return caller.get() == peer; });
  if (it == callers_.end()) return;
  // The same PID 1 comes again before the end of its old connection was seen here.
  if (holder_) holder_->channel().Close("replaced by a new connection of the same sandbox");
  holder_ = std::move(*it);
  callers_.erase(it);
  watch_.OnReadable([this] { Accept(); });
  peer->Registered();
  instance_ = hello.instance;
  version_ = hello.version;
  peer->channel().Accept();
  silent_ticks_ = 0;
  frames_at_tick_ = peer->channel().frames();
  events_->OnRegistered(instance_, version_);
  tick_.StartEvery(options_.probe_every, [this] { Tick(); });
  Probe();
}

void ControlPoint::OnDown(Peer* peer, std::string_view) {
  if (holder_.get() == peer) {
    DropLater(std::move(holder_));
    tick_.Cancel();
    if (!nonce_.empty()) FinishProbe(false, "the control channel ended");
    if (events_ != nullptr) events_->OnLost();
    return;
  }
  const auto it = std::find_if(callers_.begin(), callers_.end(), [&](const auto& caller) { return caller.get() == peer; });
  if (it == callers_.end()) return;
  DropLater(std::move(*it));
  callers_.erase(it);
  watch_.OnReadable([this] { Accept(); });
}

// A peer may be in the middle of its own callback.
void ControlPoint::DropLater(std::unique_ptr<Peer> peer) {
  dead_.push_back(std::move(peer));
  loop_.Post([this, alive = alive_] {
    if (*alive) dead_.clear();
  });
}

Result<> ControlPoint::Announce(const std::string& instance) {
  BEIGE_TRY(registration_.Open(instance));
  if (holder_) holder_->channel().Close("a new start of the sandbox was announced");
  return {};
}

void ControlPoint::Stranger(const std::string& why) {
  ++strangers_;
  const SteadyTime now = clock_.Now();
  if (now - strangers_told_ < std::chrono::seconds(1)) return;
  strangers_told_ = now;
  events_->OnStrangers(std::exchange(strangers_, 0), why);
}

void ControlPoint::Tick() {
  if (!holder_) return;
  JobChannel& channel = holder_->channel();
  silent_ticks_ = channel.frames() == frames_at_tick_ ? silent_ticks_ + 1 : 0;
  frames_at_tick_ = channel.frames();
  if (silent_ticks_ * options_.probe_every > options_.silence) {
    channel.Close("PID 1 does not answer");
    return;
  }
  channel.Ping();
  Probe();
}

void ControlPoint::Probe() {
  if (!holder_) {
    events_->OnRoundTrip(false, 0, "the sandbox is not connected");
    return;
  }
  if (!nonce_.empty()) return;  // its result serves both
  nonce_ = RandomBytes(16);
  probe_seen_ = false;
  probe_sent_ = clock_.Now();
  events_->ExpectProbe(nonce_, [this, alive = alive_] {
    if (*alive) probe_seen_ = true;
  });
  holder_->channel().Probe(nonce_);
  probe_timeout_.Start(options_.probe_within, [this] { FinishProbe(false, "no answer in time"); });
}

void ControlPoint::OnProbed(Peer* peer, std::string_view nonce) {
  if (holder_.get() != peer || nonce_.empty()) return;
  if (nonce.empty()) {
    FinishProbe(false, "gateway.sock can't be reached from inside");
  } else if (nonce != nonce_ || !probe_seen_) {
    // What counts is that our own link saw the nonce; the word of PID 1 alone is nothing.
    FinishProbe(false, "PID 1 answered without a round trip");
  } else {
    FinishProbe(true, "");
  }
}

void ControlPoint::FinishProbe(bool ok, const std::string& message) {
  nonce_.clear();
  probe_timeout_.Cancel();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(clock_.Now() - probe_sent_).count();
  if (events_ != nullptr) events_->OnRoundTrip(ok, micros, message);
}

}  // namespace beige
