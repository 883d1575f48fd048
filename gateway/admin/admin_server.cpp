#include "gateway/admin/admin_server.h"

#include <algorithm>

#include "base/log.h"
#include "gateway/admin/operator_session.h"
#include "gateway/roster/roster.h"

namespace beige {
namespace {
// Whoever says no hello holds a place; there are few.
constexpr size_t kMaxSessions = 8;
}  // namespace

Result<std::unique_ptr<AdminServer>> AdminServer::Open(Loop& loop, WriteBatch& batch, const HomePaths& paths, Roster& roster) {
  BEIGE_ASSIGN(auto listener, OwnerListener::Open(loop, paths.AdminSocket(), paths.DataOperator()));
  return std::unique_ptr<AdminServer>(new AdminServer(loop, batch, roster, std::move(listener)));
}

AdminServer::AdminServer(Loop& loop, WriteBatch& batch, Roster& roster, std::unique_ptr<OwnerListener> listener)
    : loop_(loop), batch_(batch), roster_(roster), listener_(std::move(listener)) {
  roster_.OnEvent([this](const admin::ToOperator& message) { Send(message); });
  listener_->Start([this](UniqueFd fd) { Accept(std::move(fd)); });
}

AdminServer::~AdminServer() {
  *alive_ = false;
  roster_.OnEvent(nullptr);
}

void AdminServer::Send(const admin::ToOperator& message) {
  if (operator_ != nullptr) operator_->Send(message);
}

void AdminServer::Accept(UniqueFd fd) {
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
