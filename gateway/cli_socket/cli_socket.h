#ifndef BEIGE_GATEWAY_CLI_SOCKET_CLI_SOCKET_H_
#define BEIGE_GATEWAY_CLI_SOCKET_CLI_SOCKET_H_

#include <memory>
#include <vector>

#include "api/paths.h"
#include "base/loop.h"
#include "base/owner_listener.h"
#include "base/result.h"
#include "gateway/cli_socket/cli_session.h"

namespace beige {

// run/cli.sock (0600; the gateway's own uid and root): streams of the owner's CLI. Its calls have surface exec and actor local.
// Core thread only.
class CliSocket final : public CliSession::Owner {
 public:
  static Result<std::unique_ptr<CliSocket>> Open(Loop& loop, WriteBatch& batch, const HomePaths& paths, Roster& roster, CallService& calls);
  ~CliSocket() override;

 private:
  CliSocket(Loop& loop, WriteBatch& batch, Roster& roster, CallService& calls, std::unique_ptr<OwnerListener> listener);
  void Accept(UniqueFd fd);
  void Ended(CliSession* session) override;
  void Adopt(std::unique_ptr<CliExec> detached) override;
  void BuryLater();

  Loop& loop_;
  WriteBatch& batch_;
  Roster& roster_;
  CallService& calls_;
  std::unique_ptr<OwnerListener> listener_;
  std::vector<std::unique_ptr<CliSession>> sessions_;
  std::vector<std::unique_ptr<CliSession>> dead_;
  std::vector<std::unique_ptr<CliExec>> orphans_;
  std::vector<std::unique_ptr<CliExec>> dead_orphans_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace beige

#endif
