#ifndef BEIGE_TESTS_OPERATOR_RECONCILE_HARNESS_H_
#define BEIGE_TESTS_OPERATOR_RECONCILE_HARNESS_H_

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/loop.h"
#include "operator/app/intake.h"
#include "operator/app/metrics.h"
#include "operator/reconcile/reconciler.h"
#include "operator/reconcile/sweep.h"
#include "operator/reconcile/disk_watch.h"
#include "operator/source/merge.h"
#include "runtime/fake/fake_runtime.h"
#include "tests/operator/temp_dir.h"
#include "tests/operator/tiny_gateway.h"

namespace beige::testing {

// Time that tests step; read by several threads.
class StepClock : public Clock {
 public:
  SteadyTime Now() const override { return SteadyTime(std::chrono::nanoseconds(now_)); }
  SystemTime WallNow() const override { return SystemTime(std::chrono::seconds(1796000000)) + std::chrono::duration_cast<SystemTime::duration>(std::chrono::nanoseconds(now_)); }
  void Advance(std::chrono::nanoseconds by) { now_ += by.count(); }

 private:
  std::atomic<int64_t> now_{std::chrono::nanoseconds(std::chrono::hours(1)).count()};
};

inline constexpr const char* kImage = "localhost/beige-sandbox:test";

// All of the operator but its threads and its files: texts instead of a directory, a fake engine, a tiny gateway on a real socket. The
// queue is stepped. Made anew on the same home and engine, it is the operator after a restart.
class Operator {
 public:
  Operator(const std::string& home, runtime::fake::FakeRuntime& runtime, TinyGateway& gateway, StepClock& clock);
  ~Operator();

  // The source's whole content: file -> text.
  void LookAgain() { intake_->Again(); }  // what the operator does on a timer while something could not be noted, and after operator.yaml changed
  void Files(const std::map<std::string, std::string>& files);
  void Deliver(const Snapshot& snapshot) { intake_->OnSnapshot(snapshot); }
  void Step();  // works until nothing is ready
  // Steps until it holds; false after 10 s.
  bool Until(const std::function<bool()>& predicate);
  void AdvanceAndStep(std::chrono::nanoseconds by);

  std::string Show(const std::string& agent, const std::string& condition);  // "True RoundTripOK"
  std::string Message(const std::string& agent, const std::string& condition);
  bool IsReady(const std::string& agent) { return Show(agent, "Ready") == "True RoundTripOK"; }
  std::optional<Agent> Get(const std::string& agent);
  std::string Events();
  GatewayFacts Facts(const std::string& uid) const { return client_->Facts(uid); }

  HomePaths paths;
  runtime::fake::FakeRuntime& runtime;
  StepClock& clock;
  HomeId home;
  Metrics metrics;
  ConfigState config;
  IdentityStore identities;
  StatusStore status;
  EventLog events;
  DesiredState desired;
  WorkQueue queue;
  SandboxIndex index;
  DiskPressure pressure;
  std::atomic<int64_t> free_space{INT64_MAX};
  std::atomic<int64_t> free_files{INT64_MAX};  // 100 are kept free

 private:
  void Poke();

  std::mutex mutex_;
  std::condition_variable wake_;
  uint64_t pokes_ = 0;
  Loop loop_;
  std::unique_ptr<Images> images_;
  std::unique_ptr<GatewayClient> client_;
  std::unique_ptr<Reconciler> reconciler_;
  std::unique_ptr<Sweep> sweep_;
  std::unique_ptr<DiskWatch> disk_;
  std::unique_ptr<Intake> intake_;
  Merger merger_;
  std::unique_ptr<runtime::SandboxRuntime::Subscription> subscription_;
  std::thread thread_;
};

// One home with a fake engine that has the image, and a gateway whose sandboxes register and answer as soon as they start.
class ReconcileTest : public ::testing::Test {
 protected:
  ReconcileTest();
  ~ReconcileTest() override;

  void Restart() {
    op.reset();
    Boot();
  }
  void Boot() { op = std::make_unique<Operator>(home.path(), runtime, gateway, clock); }
  // One agent, Ready.
  void MakeReady(const std::string& spec = "  description: test\n");
  void Edit(const std::string& spec) { op->Files({{"one.yaml", AgentYaml("one", spec)}}); }

  // What the real gateway does after a Sync: says the live registration again, once (a second one would be a new registration, without
  // a round trip yet). Called from a predicate, with a flag of the test's.
  void SayRegisteredAgain(const runtime::Observed& sandbox, bool& said) {
    if (said || !op->Facts(sandbox.key.uid).synced) return;
    said = true;
    gateway.Say(admin::Registered{sandbox.key.uid, sandbox.instance, "test"});
  }

  std::vector<runtime::Observed> Sandboxes();  // of this home
  runtime::Observed Only();                    // the only one
  std::string Uid() { return op->Get("one")->metadata.uid; }

  TempDir home;
  StepClock clock;
  runtime::fake::FakeRuntime runtime;
  TinyGateway gateway;
  std::atomic<bool> registers{true};  // whether what starts registers by itself
  std::function<void(const std::string& id)> on_start = [](const std::string&) {};
  std::unique_ptr<Operator> op;
};

}  // namespace beige::testing

#endif
