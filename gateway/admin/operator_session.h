#ifndef BEIGE_GATEWAY_ADMIN_OPERATOR_SESSION_H_
#define BEIGE_GATEWAY_ADMIN_OPERATOR_SESSION_H_

#include <functional>
#include <string>
#include <string_view>

#include "api/admin.h"
#include "base/socket_stream.h"

namespace beige {

class Roster;

// One connection on admin.sock: lines in, lines out. Says hello at once; nothing else is taken before the peer's hello.
class OperatorSession final : public SocketStreamOwner {
 public:
  // `on_hello` runs when the peer's version fits: from then on this session is the operator's. `on_end` runs once, with the reason; the
  // session may be destroyed after it returned to the loop.
  OperatorSession(Loop& loop, WriteBatch& batch, UniqueFd fd, Roster& roster, std::function<void()> on_hello,
                  std::function<void(const std::string& why)> on_end);

  void Send(const admin::ToOperator& message);
  bool hello_done() const { return hello_done_; }
  void End(const std::string& why);

 private:
  void OnBytes(std::string_view bytes) override;
  void OnEof() override { End("the operator closed the connection"); }
  void OnClosed() override { End("the connection broke"); }

  void OnLine(std::string_view line);
  void Take(const admin::Hello& hello);
  void Take(const admin::Sync& sync);
  void Take(const admin::Put& put);
  void Take(const admin::Remove& remove);
  void Take(const admin::Announce& announce);
  void Take(const admin::Probe& probe);
  void PutGrant(const admin::Grant& grant);
  void RemoveUid(const std::string& uid);

  Roster& roster_;
  const std::function<void()> on_hello_;
  const std::function<void(const std::string&)> on_end_;
  SocketStream stream_;
  std::string in_;
  bool hello_done_ = false;
  bool ended_ = false;
};

}  // namespace beige

#endif
