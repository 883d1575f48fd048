#ifndef BEIGE_OPERATOR_ADMIN_GATEWAY_CLIENT_H_
#define BEIGE_OPERATOR_ADMIN_GATEWAY_CLIENT_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/admin.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "operator/admin/gateway_table.h"

namespace beige {

// The operator's end of run/admin.sock: connects, and again with backoff (50 ms to 1 s) for ever; says hello, then the complete set, then
// deltas. The socket lives on the loop's thread; Put, Remove, Announce and Probe are called by the reconcile workers and wait there.
class GatewayClient {
 public:
  struct Callbacks {  // all on the loop's thread, none under a lock
    // The complete set of grants; nullopt before the first complete snapshot, and then nothing is sent.
    std::function<std::optional<std::vector<admin::Grant>>()> grants;
    std::function<void(const std::string& uid)> changed;
    std::function<void()> link_changed;  // synced or lost: every agent deserves a look
  };
  static constexpr std::chrono::milliseconds kAnswer{10000};  // a grant may have to make tool cells

  GatewayClient(Loop& loop, const Clock& clock, std::string socket_path, std::string version, Callbacks callbacks);
  ~GatewayClient();

  void Start();
  void Stop();  // thread-safe: whoever waits is told Unavailable, and nobody waits any more
  void GrantsReady();  // thread-safe: `grants` has an answer now

  // Sends the grant and waits for InForce (success) or Rejected (Invalid). Unavailable without a gateway, Timeout after kAnswer.
  Result<> Put(const admin::Grant& grant);
  Result<> Remove(const std::string& uid);
  // Returns when the gateway has opened the registration window for this start; Unavailable with its reason when it can't.
  Result<> Announce(const std::string& uid, const std::string& instance);
  Result<> Probe(const std::string& uid);

  GatewayFacts Facts(const std::string& uid) const;  // thread-safe
  struct Link {
    bool connected = false;
    bool synced = false;
    std::string message;
  };
  Link link() const;

 private:
  struct Shared {
    GatewayTable table;
    uint64_t epoch = 0;  // of the connection
  };

  void Connect();
  void Disconnect(const std::string& why);
  void OnReadable();
  void Handle(const admin::ToOperator& message);
  void SyncIfReady();
  void Send(const admin::ToGateway& message);
  void Flush();
  void Queue(const admin::ToGateway& message, uint64_t epoch);  // from any thread; dropped when that connection is over
  template <typename Done>
  Result<> WaitFor(uint64_t epoch, const std::string& doing, Done done);

  Loop& loop_;
  const Clock& clock_;
  const std::string path_;
  const std::string version_;
  const Callbacks callbacks_;
  Timer retry_;
  std::chrono::milliseconds backoff_{50};
  UniqueFd fd_;
  std::unique_ptr<FdWatch> watch_;
  std::string in_;
  std::string out_;
  bool hello_done_ = false;
  bool stopped_ = false;

  mutable std::mutex mutex_;  // of shared_; with the condition variable, so not in a Guarded
  std::condition_variable wake_;
  Shared shared_;
};

}  // namespace beige

#endif
