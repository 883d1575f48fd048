#ifndef BEIGE_TESTS_RUNTIME_SUITE_H_
#define BEIGE_TESTS_RUNTIME_SUITE_H_

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "base/files.h"
#include "base/random.h"
#include "tests/runtime/backend.h"
#include "tests/support/temp_dir.h"

namespace beige::runtime {

// Asks again and again until `holds` or 20 s are over.
inline bool Eventually(const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

#define ASSERT_OK(expr)                                     \
  do {                                                      \
    const auto& ok_ = (expr);                               \
    ASSERT_TRUE(ok_.has_value()) << ok_.error().message;    \
  } while (false)

// What every runtime must do. Each test has a home and a workspace of its own, so that tests can run at once on one engine.
class RuntimeTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override {
    backend_ = GetParam().make();
    ASSERT_NE(backend_, nullptr) << "no engine: see the message above";
    home_ = "test-" + ShortId(RandomBytes(16), 12);
    ASSERT_EQ(mkdir(Workspace().c_str(), 0755), 0);
    if (geteuid() == 0) {
      ASSERT_EQ(chown(Workspace().c_str(), Uid(), Uid()), 0);
    }
  }

  void TearDown() override {
    if (!backend_) return;
    auto left = runtime().List(home_);
    ASSERT_OK(left);
    for (const Observed& observed : *left) EXPECT_TRUE(runtime().Remove(observed.id).has_value());
    EXPECT_TRUE(runtime().Prune(home_).has_value());
    EXPECT_TRUE(backend_->Bridges(home_).empty());
  }

  SandboxRuntime& runtime() { return backend_->runtime(); }
  std::string Workspace() const { return dir_ / "workspace"; }
  static uint32_t Uid() { return geteuid() == 0 ? 200'000 : geteuid(); }

  // A sandbox that lives until it is stopped.
  SandboxSpec Spec(const std::string& agent = "a1") const {
    SandboxSpec spec;
    spec.key = {home_, "default", agent, "uid-" + agent + "-" + home_};
    spec.name = "beige-" + home_ + "-" + agent;
    spec.instance = "instance-1";
    spec.spec_hash = "hash-1";
    spec.template_version = 3;
    spec.image = kBusybox;
    spec.command = {"/bin/sleep", "1000"};
    spec.hostname = agent;
    spec.uid = spec.gid = Uid();
    spec.env = {{"PATH", "/bin"}, {"HOME", "/workspace"}, {"BEIGE_INSTANCE", "instance-1"}};
    spec.memory_bytes = 128 << 20;
    spec.cpu_millis = 500;
    spec.pids_limit = 64;
    spec.tmp_bytes = 16 << 20;
    spec.mounts = {{MountKind::kWorkspace, Workspace(), "/workspace", false}};
    return spec;
  }

  std::string Create(const SandboxSpec& spec) {
    auto id = runtime().Create(spec);
    EXPECT_TRUE(id.has_value()) << id.error().message;
    return id.value_or("");
  }
  std::string Start(const SandboxSpec& spec) {
    const std::string id = Create(spec);
    auto started = runtime().Start(id);
    EXPECT_TRUE(started.has_value()) << started.error().message;
    return id;
  }
  Observed Look(const std::string& id) {
    auto observed = runtime().Observe(id);
    EXPECT_TRUE(observed.has_value() && observed->has_value());
    return observed && *observed ? **observed : Observed{};
  }
  bool Reaches(const std::string& id, State state) {
    return Eventually([&] { return Look(id).state == state; });
  }

  TempDir dir_;
  std::string home_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace beige::runtime

#endif
