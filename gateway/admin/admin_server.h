#ifndef BEIGE_GATEWAY_ADMIN_ADMIN_SERVER_H_
#define BEIGE_GATEWAY_ADMIN_ADMIN_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "api/admin.h"
#include "api/paths.h"
#include "base/loop.h"
#include "base/owner_listener.h"
#include "base/result.h"
#include "base/socket_stream.h"
#include "base/unique_fd.h"

namespace beige {

class OperatorSession;
class Roster;

// run/admin.sock (0600; only the gateway's own uid and root): the operator's door. One operator at a time: a new connection takes over
// when it has said hello, and the former one is closed. What the roster reports goes to the operator that is connected. Core thread only.
class AdminServer {
 public:
  static Result<std::unique_ptr<AdminServer>> Open(Loop& loop, WriteBatch& batch, const HomePaths& paths, Roster& roster);
  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  bool operator_connected() const { return operator_ != nullptr; }
  void Send(const admin::ToOperator& message);  // to the connected operator; else nobody needs it: the next Sync tells everything

 private:
  AdminServer(Loop& loop, WriteBatch& batch, Roster& roster, std::unique_ptr<OwnerListener> listener);
  void Accept(UniqueFd fd);
  void Bury(OperatorSession* session);

  Loop& loop_;
  WriteBatch& batch_;
  Roster& roster_;
  std::unique_ptr<OwnerListener> listener_;
  std::vector<std::unique_ptr<OperatorSession>> sessions_;
  std::vector<std::unique_ptr<OperatorSession>> dead_;
  OperatorSession* operator_ = nullptr;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace beige

#endif
