#include "gateway/cli_socket/cli_socket.h"

#include <algorithm>

#include "base/log.h"

namespace beige {
namespace {
constexpr size_t kMaxSessions = 256;

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
  BEIGE_ASSIGN(auto listener, OwnerListener::Open(loop, paths.CliSocket(), paths.DataOperator()));
  return std::unique_ptr<CliSocket>(new CliSocket(loop, batch, roster, calls, std::move(listener)));
}

CliSocket::CliSocket(Loop& loop, WriteBatch& batch, Roster& roster, CallService& calls, std::unique_ptr<OwnerListener> listener)
    : loop_(loop), batch_(batch), roster_(roster), calls_(calls), listener_(std::move(listener)) {
  listener_->Start([this](UniqueFd fd) { Accept(std::move(fd)); });
}

CliSocket::~CliSocket() {
  *alive_ = false;
  for (auto& orphan : orphans_) calls_.Cancel(orphan->id);
}

void CliSocket::Accept(UniqueFd fd) {
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
