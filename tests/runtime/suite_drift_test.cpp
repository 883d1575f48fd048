#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "tests/runtime/suite.h"

namespace beige::runtime {

namespace {

// Collects what a subscription delivers.
class Heard {
 public:
  std::unique_ptr<SandboxRuntime::Subscription> On(SandboxRuntime& runtime, const std::string& home) {
    return runtime.Subscribe(
        home,
        [this](const Event& event) {
          std::lock_guard lock(mutex_);
          events_.push_back(event);
          changed_.notify_all();
        },
        [this](bool up) {
          std::lock_guard lock(mutex_);
          up_ = up;
          changed_.notify_all();
        });
  }
  bool WaitUp() {
    return Wait([this] { return up_; });
  }
  bool WaitFor(const std::string& id, const std::string& action) {
    return Wait([&] {
      return std::any_of(events_.begin(), events_.end(), [&](const Event& e) { return e.id == id && e.action == action; });
    });
  }
  std::vector<Event> All() {
    std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  bool Wait(const std::function<bool()>& holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), holds);
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Event> events_;
  bool up_ = false;
};

}  // namespace

TEST_P(RuntimeTest, KilledSandboxIsExitedWithItsCodeAndCanBeStartedAgain) {
  const std::string id = Start(Spec());
  backend_->Kill(id);
  ASSERT_TRUE(Reaches(id, State::kExited));
  EXPECT_EQ(Look(id).exit_code, 137);
  EXPECT_FALSE(Look(id).oom_killed);
  ASSERT_OK(runtime().Start(id));
  EXPECT_EQ(Look(id).state, State::kRunning);
}

TEST_P(RuntimeTest, PausedSandboxIsSeenAndUnpaused) {
  const std::string id = Start(Spec());
  EXPECT_TRUE(runtime().Unpause(id).has_value()) << "not paused is success";
  backend_->Pause(id);
  EXPECT_EQ(Look(id).state, State::kPaused);
  const auto started = runtime().Start(id);
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().code, Code::kConflict) << started.error().message;
  ASSERT_OK(runtime().Unpause(id));
  EXPECT_EQ(Look(id).state, State::kRunning);
}

TEST_P(RuntimeTest, RenamedSandboxIsFoundByLabelAndRenamedBack) {
  const SandboxSpec spec = Spec();
  const std::string id = Start(spec);
  backend_->RenameByHand(id, spec.name + "-away");
  const auto list = runtime().List(home_);
  ASSERT_OK(list);
  ASSERT_EQ(list->size(), 1u);
  EXPECT_EQ(list->front().name, spec.name + "-away");
  ASSERT_OK(runtime().Rename(id, spec.name));
  EXPECT_EQ(Look(id).name, spec.name);
  EXPECT_TRUE(runtime().Rename(id, spec.name).has_value()) << "its own name is success";
}

TEST_P(RuntimeTest, RenameToATakenNameIsAConflict) {
  const std::string id = Create(Spec("a1"));
  const SandboxSpec other = Spec("a2");
  Create(other);
  const auto renamed = runtime().Rename(id, other.name);
  ASSERT_FALSE(renamed.has_value());
  EXPECT_EQ(renamed.error().code, Code::kConflict) << renamed.error().message;
}

TEST_P(RuntimeTest, EventsOfTheHomeArriveAndNoOthers) {
  Heard heard;
  const auto subscription = heard.On(runtime(), home_);
  ASSERT_TRUE(heard.WaitUp());
  SandboxSpec foreign = Spec("b1");
  foreign.key.home += "-other";
  const std::string other = Start(foreign);
  const SandboxSpec spec = Spec();
  const std::string id = Start(spec);
  EXPECT_TRUE(heard.WaitFor(id, "start"));
  backend_->Pause(id);
  EXPECT_TRUE(heard.WaitFor(id, "pause"));
  ASSERT_OK(runtime().Unpause(id));
  EXPECT_TRUE(heard.WaitFor(id, "unpause"));
  backend_->Kill(id);
  EXPECT_TRUE(heard.WaitFor(id, "die"));
  backend_->RemoveByHand(id);
  EXPECT_TRUE(heard.WaitFor(id, "destroy"));
  for (const Event& event : heard.All()) {
    if (event.action.starts_with("network-")) continue;  // of any container: they carry no label
    EXPECT_EQ(event.id, id);
    EXPECT_EQ(event.key, spec.key);
  }
  ASSERT_OK(runtime().Remove(other));
}

TEST_P(RuntimeTest, NoEventComesAfterASubscriptionIsGone) {
  Heard gone;
  Heard stays;
  auto first = gone.On(runtime(), home_);
  const auto second = stays.On(runtime(), home_);
  ASSERT_TRUE(gone.WaitUp());
  ASSERT_TRUE(stays.WaitUp());
  first.reset();
  const std::string id = Start(Spec());
  ASSERT_TRUE(stays.WaitFor(id, "start"));
  EXPECT_TRUE(gone.All().empty());
}

TEST_P(RuntimeTest, OpenEgressMakesABridgeOfItsOwnAndRemoveTakesItAway) {
  SandboxSpec spec = Spec();
  spec.network = Network::kOpen;
  const std::string id = Start(spec);
  EXPECT_EQ(backend_->Bridges(home_), std::vector<std::string>{spec.name});
  const auto verified = runtime().Verify(spec, id);
  ASSERT_OK(verified);
  EXPECT_EQ(verified->size(), 0u) << (verified->empty() ? "" : verified->front().field + ": " + verified->front().have);
  ASSERT_OK(runtime().Remove(id));
  EXPECT_TRUE(backend_->Bridges(home_).empty());
}

TEST_P(RuntimeTest, BridgeThatACutOffCreateLeftIsTakenOver) {
  SandboxSpec spec = Spec();
  spec.network = Network::kOpen;
  backend_->RemoveByHand(Create(spec));
  ASSERT_EQ(backend_->Bridges(home_).size(), 1u) << "left behind, as after a crash between the two steps";
  Start(spec);
  EXPECT_EQ(backend_->Bridges(home_).size(), 1u);
}

TEST_P(RuntimeTest, PruneRemovesTheBridgesWhoseSandboxIsGoneAndKeepsTheOthers) {
  SandboxSpec lives = Spec("a1");
  SandboxSpec gone = Spec("a2");
  lives.network = gone.network = Network::kOpen;
  Create(lives);
  backend_->RemoveByHand(Create(gone));
  ASSERT_EQ(backend_->Bridges(home_).size(), 2u);
  ASSERT_OK(runtime().Prune(home_));
  EXPECT_EQ(backend_->Bridges(home_), std::vector<std::string>{lives.name});
}

TEST_P(RuntimeTest, FailedCreateLeavesNoBridge) {
  SandboxSpec spec = Spec();
  spec.network = Network::kOpen;
  backend_->AddForeign(spec.name, {});
  ASSERT_FALSE(runtime().Create(spec).has_value());
  EXPECT_TRUE(backend_->Bridges(home_).empty());
}

}  // namespace beige::runtime
