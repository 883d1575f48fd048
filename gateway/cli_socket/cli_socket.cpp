#include "gateway/cli_socket/cli_socket.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log.h"
#include "base/unix_socket.h"

namespace beige {
namespace {
constexpr size_t kMaxSessions = 256;
constexpr std::chrono::milliseconds kAcceptBackOff{100};

template <typename T>
std::unique_ptr<T> TakeOut(std::vector<std::unique_ptr<T>>& from, const T* what) {
  const auto found = std::find_if(from.begin(), from.end(), [&](const auto& p) { return p.get() == what; });
  if (found == from.end()) return nullptr;
  std::unique_ptr<T> taken = std::move(*found);
  from.erase(found);
  return taken;
}
}  // namespace

Result<std::unique_ptr<CliSocket>> CliSocket::Open(Loop& loop, WriteBatch& batch, const HomePaths& paths, Roster& roster, CallService& calls) {
  BEIGE_ASSIGN(UniqueFd listener, ListenUnix(paths.CliSocket(), 0600));
  return std::unique_ptr<CliSocket>(new CliSocket(loop, batch, roster, calls, std::move(listener)));
}

CliSocket::CliSocket(Loop& loop, WriteBatch& batch, Roster& roster, CallService& calls, UniqueFd listener)
    : loop_(loop), batch_(batch), roster_(roster), calls_(calls), listener_(std::move(listener)), watch_(loop, listener_.get()), retry_(loop) {
  watch_.OnReadable([this] { Accept(); });
}

CliSocket::~CliSocket() {
  *alive_ = false;
  for (auto& orphan : orphans_) calls_.Cancel(orphan->id);
}

void CliSocket::Accept() {
  UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    watch_.OnReadable(nullptr);  // out of descriptors: it would stay readable
    retry_.Start(kAcceptBackOff, [this] { watch_.OnReadable([this] { Accept(); }); });
    return;
  }
  const auto peer = PeerOf(fd.get());
  if (!peer || (peer->uid != ::geteuid() && peer->uid != 0)) {
    LogWarn("stranger on cli.sock", {{"uid", peer ? std::to_string(peer->uid) : "unknown"}});
    return;
  }
  if (sessions_.size() >= kMaxSessions) {
    LogWarn("cli.sock: too many connections", {{"limit", std::to_string(kMaxSessions)}});
    return;
  }
  sessions_.push_back(std::make_unique<CliSession>(loop_, batch_, std::move(fd), roster_, calls_, *this));
}

void CliSocket::Ended(CliSession* session) {
  if (auto taken = TakeOut(sessions_, session)) dead_.push_back(std::move(taken));
  BuryLater();
}

void CliSocket::Adopt(std::unique_ptr<CliExec> detached) {
  CliExec* exec = detached.get();
  exec->on_over = [this, exec] {
    if (auto taken = TakeOut(orphans_, exec)) dead_orphans_.push_back(std::move(taken));
    BuryLater();
  };
  orphans_.push_back(std::move(detached));
}

// From the loop: what ends is usually on the stack.
void CliSocket::BuryLater() {
  loop_.Post([this, alive = alive_] {
    if (!*alive) return;
    dead_.clear();
    dead_orphans_.clear();
  });
}

}  // namespace beige
