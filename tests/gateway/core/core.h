#ifndef BEIGE_TESTS_GATEWAY_CORE_CORE_H_
#define BEIGE_TESTS_GATEWAY_CORE_CORE_H_

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/admin.h"
#include "api/config.h"
#include "api/paths.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/loop.h"
#include "gateway/audit/audit_log.h"
#include "gateway/calls/calls.h"
#include "gateway/metrics/metrics.h"
#include "gateway/roster/roster.h"
#include "tests/support/temp_dir.h"

namespace beige::testing {

inline constexpr std::chrono::seconds kPatience{20};

// The core of a gateway in a temporary home, on a thread of its own as in the product. What belongs to that thread is reached by On().
class Core {
 public:
  explicit Core(AuditSync sync = AuditSync::kBatch);
  ~Core();

  const HomePaths& paths() const { return paths_; }
  GatewayMetrics& metrics() { return metrics_; }

  // Runs `fn` on the core thread and waits for it.
  template <typename F>
  auto On(F&& fn) {
    std::promise<decltype(fn())> done;
    auto result = done.get_future();
    loop_->Post([&] {
      if constexpr (std::is_void_v<decltype(fn())>) {
        fn();
        done.set_value();
      } else {
        done.set_value(fn());
      }
    });
    return result.get();
  }
  Roster& roster() { return *roster_; }
  Calls& calls() { return *calls_; }
  AuditLog& audit() { return *audit_; }
  Loop& loop() { return *loop_; }

  // A tool in the home: a folder with an executable of the given text (a script with its #! line).
  ToolManifest& AddTool(const std::string& name, const std::string& script);
  // Puts the tools so far, and `config`, in force.
  void Configure();
  admin::InForce Grant(const std::string& agent, std::vector<std::string> tools);
  static std::string UidOf(const std::string& agent) { return "uid-of-" + agent; }
  static AgentRef RefOf(const std::string& agent) { return {"default", agent, UidOf(agent)}; }
  std::string SocketOf(const std::string& agent) const { return paths_.GatewaySocket(UidOf(agent)); }

  std::vector<std::string> AuditLines() const;
  // Waits until `done` says so of the audit's lines.
  bool AuditShows(const std::function<bool(const std::vector<std::string>&)>& done) const;
  // Events of the roster, and a wait for one.
  bool EventShows(const std::function<bool(const admin::ToOperator&)>& wanted);

  // Ends everything as a process would and starts again on the same home.
  void Restart();

  GatewayConfig config;

 private:
  void Up();
  void Down();

  TempDir home_;
  HomePaths paths_;
  RealClock clock_;
  AuditSync sync_;
  GatewayMetrics metrics_;
  std::map<std::string, ToolManifest> tools_;
  Guarded<std::vector<admin::ToOperator>> events_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<AuditLog> audit_;
  std::unique_ptr<Roster> roster_;
  std::unique_ptr<Calls> calls_;
  std::thread thread_;
};

// Waits for `done` with a deadline; looks again every few milliseconds.
bool Eventually(const std::function<bool()>& done);

}  // namespace beige::testing

#endif
