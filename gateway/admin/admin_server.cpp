#include "gateway/admin/admin_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log.h"
#include "base/unix_socket.h"
#include "gateway/admin/operator_session.h"
#include "gateway/roster/roster.h"

namespace beige {
namespace {
// Whoever says no hello holds a place; there are few.
constexpr size_t kMaxSessions = 8;
constexpr std::chrono::milliseconds kAcceptBackOff{100};
}  // namespace

Result<std::unique_ptr<AdminServer>> AdminServer::Open(Loop& loop, WriteBatch& batch, const HomePaths& paths, Roster& roster) {
  BEIGE_ASSIGN(UniqueFd listener, ListenUnix(paths.AdminSocket(), 0600));
  return std::unique_ptr<AdminServer>(new AdminServer(loop, batch, roster, std::move(listener)));
}

AdminServer::AdminServer(Loop& loop, WriteBatch& batch, Roster& roster, UniqueFd listener)
    : loop_(loop), batch_(batch), roster_(roster), listener_(std::move(listener)), watch_(loop, listener_.get()), retry_(loop) {
  roster_.OnEvent([this](const admin::ToOperator& message) { Send(message); });
  watch_.OnReadable([this] { Accept(); });
}

AdminServer::~AdminServer() {
  *alive_ = false;
  roster_.OnEvent(nullptr);
}

void AdminServer::Send(const admin::ToOperator& message) {
  if (operator_ != nullptr) operator_->Send(message);
}

void AdminServer::Accept() {
  UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    watch_.OnReadable(nullptr);  // out of descriptors: it would stay readable
    retry_.Start(kAcceptBackOff, [this] { watch_.OnReadable([this] { Accept(); }); });
    return;
  }
  const auto peer = PeerOf(fd.get());
  if (!peer || (peer->uid != ::geteuid() && peer->uid != 0)) {
    LogWarn("stranger on admin.sock", {{"uid", peer ? std::to_string(peer->uid) : "unknown"}});
    return;
  }
  if (sessions_.size() >= kMaxSessions) {
    // The oldest one that is not the operator's makes room.
    const auto idle = std::find_if(sessions_.begin(), sessions_.end(), [this](const auto& s) { return s.get() != operator_; });
    (*idle)->End("too many connections without a hello");
  }
  auto place = std::make_shared<OperatorSession*>(nullptr);
  auto session = std::make_unique<OperatorSession>(
      loop_, batch_, std::move(fd), roster_,
      [this, place] {
        OperatorSession* const former = std::exchange(operator_, *place);
        LogInfo("operator connected");
        if (former != nullptr) former->End("a new operator took over");
      },
      [this, place](const std::string& why) {
        LogInfo("operator connection ended", {{"why", why}});
        Bury(*place);
      });
  *place = session.get();
  sessions_.push_back(std::move(session));
}

// Not at once: the session is usually on the stack.
void AdminServer::Bury(OperatorSession* session) {
  if (session == operator_) operator_ = nullptr;
  const auto found = std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& s) { return s.get() == session; });
  if (found == sessions_.end()) return;
  dead_.push_back(std::move(*found));
  sessions_.erase(found);
  loop_.Post([this, alive = alive_] {
    if (*alive) dead_.clear();
  });
}

}  // namespace beige
