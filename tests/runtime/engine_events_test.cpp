#include <gtest/gtest.h>

#include <unistd.h>

#include <condition_variable>
#include <future>
#include <mutex>

#include "runtime/docker/docker_runtime.h"
#include "runtime/engine/event_stream.h"
#include "tests/runtime/scripted_engine.h"

namespace beige::runtime::engine {

namespace {

// A chunked answer that never ends by itself.
std::string OpenStream(const std::string& lines) {
  char size[16];
  std::snprintf(size, sizeof size, "%zx", lines.size());
  return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + (lines.empty() ? "" : std::string(size) + "\r\n" + lines + "\r\n");
}

std::string EventLine(const std::string& action) {
  return R"({"Type":"container","Action":")" + action +
         R"(","Actor":{"ID":"c1","Attributes":{"beige.dev/home":"h","beige.dev/namespace":"n","beige.dev/agent":"a","beige.dev/uid":"u"}}})" "\n";
}

class Watcher {
 public:
  std::function<void(const Event&)> OnEvent() {
    return [this](const Event& event) { Add(event.action); };
  }
  std::function<void(bool)> OnState() {
    return [this](bool up) { Add(up ? "up" : "down"); };
  }
  bool WaitFor(const std::vector<std::string>& wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return seen_.size() >= wanted.size(); }) &&
           std::vector<std::string>(seen_.begin(), seen_.begin() + static_cast<long>(wanted.size())) == wanted;
  }
  std::vector<std::string> Seen() {
    std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  void Add(std::string what) {
    std::lock_guard lock(mutex_);
    seen_.push_back(std::move(what));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> seen_;
};

ScriptedEngine::Script Events(const std::string& stream) {
  return [stream](const SeenRequest& request) { return request.line.starts_with("GET /_ping ") ? ScriptedEngine::Pong("1.45") : stream; };
}

}  // namespace

TEST(EventStreamTest, AsksForContainersAndNetworksInTheNegotiatedVersion) {
  ScriptedEngine engine(Events(OpenStream(EventLine("start"))));
  const auto runtime = docker::MakeDockerRuntime({.socket = engine.socket(), .observer = nullptr});
  Watcher watcher;
  const auto subscription = runtime->Subscribe("h", watcher.OnEvent(), watcher.OnState());
  EXPECT_TRUE(watcher.WaitFor({"up", "start"}));
  EXPECT_EQ(engine.Requests().back().line,
            "GET /v1.45/events?filters=%7B%22type%22%3A%5B%22container%22%2C%22network%22%5D%7D HTTP/1.1");
}

TEST(EventStreamTest, ComesBackByItselfAfterTheEngineHungUp) {
  ScriptedEngine engine(Events(OpenStream(EventLine("die"))));
  const auto runtime = docker::MakeDockerRuntime({.socket = engine.socket(), .observer = nullptr});
  Watcher watcher;
  const auto subscription = runtime->Subscribe("h", watcher.OnEvent(), watcher.OnState());
  ASSERT_TRUE(watcher.WaitFor({"up", "die"}));
  engine.DropConnections();
  EXPECT_TRUE(watcher.WaitFor({"up", "die", "down", "up", "die"}));
}

TEST(EventStreamTest, SaysOnceThatAnAbsentEngineIsDownAndFindsItWhenItComes) {
  TempDir dir;
  Watcher watcher;
  auto engine = std::make_unique<ScriptedEngine>(Events(OpenStream("")));
  const std::string link = dir / "docker.sock";
  const auto runtime = docker::MakeDockerRuntime({.socket = link, .observer = nullptr});
  const auto subscription = runtime->Subscribe("h", watcher.OnEvent(), watcher.OnState());
  ASSERT_TRUE(watcher.WaitFor({"down"}));
  ASSERT_EQ(symlink(engine->socket().c_str(), link.c_str()), 0);
  EXPECT_TRUE(watcher.WaitFor({"down", "up"}));
  EXPECT_EQ(watcher.Seen().size(), 2u);
}

TEST(EventStreamTest, EngineThatTakesTheSubscriptionButNeverAnswersIsTriedAgain) {
  std::atomic<int> asked = 0;
  ScriptedEngine engine([&](const SeenRequest& request) {
    if (request.line.starts_with("GET /_ping ")) return ScriptedEngine::Pong("1.45");
    return ++asked == 1 ? std::string(ScriptedEngine::kSilence) : OpenStream(EventLine("start"));
  });
  const auto runtime = docker::MakeDockerRuntime({.socket = engine.socket(), .observer = nullptr, .deadline = std::chrono::milliseconds(150)});
  Watcher watcher;
  const auto subscription = runtime->Subscribe("h", watcher.OnEvent(), watcher.OnState());
  EXPECT_TRUE(watcher.WaitFor({"down", "up", "start"}));
}

TEST(EventStreamTest, LineThatIsCutBetweenReadsIsOneEventAndGarbageIsNone) {
  const std::string line = EventLine("start");
  std::string stream = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char c : "garbage\n" + line) stream += std::string("1\r\n") + c + "\r\n";
  ScriptedEngine engine(Events(stream));
  const auto runtime = docker::MakeDockerRuntime({.socket = engine.socket(), .observer = nullptr});
  Watcher watcher;
  const auto subscription = runtime->Subscribe("h", watcher.OnEvent(), watcher.OnState());
  EXPECT_TRUE(watcher.WaitFor({"up", "start"}));
}

TEST(EventStreamTest, BlockingCallInACallbackIsRefusedInsteadOfHangingForEver) {
  ScriptedEngine engine(Events(OpenStream(EventLine("start"))));
  const auto runtime = docker::MakeDockerRuntime({.socket = engine.socket(), .observer = nullptr});
  std::promise<Code> code;
  const auto subscription = runtime->Subscribe(
      "h",
      [&](const Event&) {
        auto listed = runtime->List("h");
        code.set_value(listed ? Code::kNotFound : listed.error().code);
      },
      nullptr);
  EXPECT_EQ(code.get_future().get(), Code::kInternal);
}

TEST(EventStreamTest, SubscriptionCanEndItselfInItsCallback) {
  ScriptedEngine engine(Events(OpenStream(EventLine("start") + EventLine("die"))));
  const auto runtime = docker::MakeDockerRuntime({.socket = engine.socket(), .observer = nullptr});
  std::unique_ptr<SandboxRuntime::Subscription> subscription;
  std::promise<void> begun;
  std::shared_future<void> stored(begun.get_future());
  std::promise<std::string> ended;
  subscription = runtime->Subscribe(
      "h",
      [&, stored](const Event& event) {
        stored.wait();
        subscription.reset();
        ended.set_value(event.action);  // a second event would set it again and throw
      },
      nullptr);
  begun.set_value();
  EXPECT_EQ(ended.get_future().get(), "start");
}

}  // namespace beige::runtime::engine
