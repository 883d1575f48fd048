// Fallback, cooldowns, places, timeouts and cancelling against the scripted provider.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>

#include "tests/gateway/llm/llm_fixture.h"

namespace beige::llm {
namespace {
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A port of 127.0.0.1 whose queue of connections is full: a connect to it hangs.
class FullPort {
 public:
  FullPort() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    ::listen(listener_.get(), 0);
    for (int i = 0; i < 4; ++i) {
      fill_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      ::connect(fill_.back().get(), reinterpret_cast<sockaddr*>(&address), size);
    }
  }
  int port() const { return port_; }

 private:
  UniqueFd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::vector<UniqueFd> fill_;
  int port_ = 0;
};
}  // namespace

class LlmResilienceTest : public LlmTest {
 protected:
  size_t Requests() const { return upstream_->Stats()["requests"].size(); }
};

TEST_F(LlmResilienceTest, BeforeTheFirstContentAnotherModelIsAsked) {
  for (const char* broken : {"overload", "status:500", "status:401", "r429", "empty", "garbage", "garbagesse", "errorevent", "json200", "status:404"}) {
    upstream_->Reset();
    const auto asked = Answer({std::string("chat/") + broken, "anthropic/instant"});
    EXPECT_EQ(asked->Described(), (std::vector<std::string>{"started msg_1 instant", "text ok", "usage 10+4+3 -> 5 (0)", "stopped end end_turn"})) << broken;
    EXPECT_EQ(Requests(), 2u);
  }
  EXPECT_EQ(Metric(R"(beige_llm_requests_total{agent="a1",model="overload",namespace="default",outcome="overloaded",provider="chat"})"), 1);
}

TEST_F(LlmResilienceTest, AfterTheFirstContentTheStreamEndsWithOneError) {
  for (const char* broken : {"cut", "errorlate", "noend", "cutcall"}) {
    upstream_->Reset();
    const auto asked = Answer({std::string("anthropic/") + broken, "chat/instant"});
    EXPECT_THAT(asked->Of<Failed>(), SizeIs(1)) << broken;
    EXPECT_THAT(asked->Of<Stopped>(), SizeIs(0)) << broken;
    EXPECT_EQ(Requests(), 1u) << broken << ": nothing is done twice";
  }
}

TEST_F(LlmResilienceTest, AModelThatCoolsDownIsNotAsked) {
  EXPECT_EQ(Answer({"chat/r429:60"})->Error().kind, ErrorClass::kRateLimit);
  EXPECT_EQ(Metric(R"(beige_llm_cooldown{model="r429:60",provider="chat"})"), 1);
  EXPECT_EQ(Answer({"chat/r429:60", "anthropic/instant"})->Text(), "ok");
  EXPECT_EQ(Requests(), 2u);
  const auto began = std::chrono::steady_clock::now();
  const auto cooling = Answer({"chat/r429:60"});
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(3)) << "answers at once";
  EXPECT_EQ(cooling->Error().kind, ErrorClass::kCooling);
  ASSERT_TRUE(cooling->Error().retry_after);
  EXPECT_THAT(*cooling->Error().retry_after, AllOf(Ge(seconds(30)), Le(seconds(60))));
  EXPECT_THAT(cooling->Error().message, HasSubstr("chat/r429:60 is cooling down for "));
  EXPECT_EQ(Requests(), 2u);
}

TEST_F(LlmResilienceTest, ACooldownSurvivesARestartAndEndsByItself) {
  Answer({"chat/r429:4"});
  llm_.reset();
  llm_ = std::make_unique<Llm>(loop_, clock_, metrics_, dir_ / "health.json");
  EXPECT_EQ(Answer({"chat/r429:4"})->Error().kind, ErrorClass::kCooling);
  EXPECT_TRUE(StepUntil([&] { return Metric(R"(beige_llm_cooldown{model="r429:4",provider="chat"})") == 0; }));
  EXPECT_FALSE(llm_->Models().front().cooling);
  EXPECT_EQ(Answer({"chat/r429:4"})->Error().kind, ErrorClass::kRateLimit) << "asked again";
  EXPECT_EQ(Requests(), 2u);
}

TEST_F(LlmResilienceTest, AnotherKeyDeservesANewTry) {
  Answer({"chat/status:401"});
  EXPECT_EQ(Answer({"chat/status:401"})->Error().kind, ErrorClass::kCooling);
  config_.llm.providers["chat"].api_key = Secret("sk-new");
  EXPECT_EQ(Answer({"chat/status:401"})->Error().kind, ErrorClass::kAuth);
}

TEST_F(LlmResilienceTest, AModelThatIsNotConfiguredIsNeverAsked) {
  Configure();
  Asked asked;
  asked.running = llm_->Ask(kAgent, {{{"chat", "instant"}, ThinkingLevel::kOff}}, {}, [&](const Event& event) {
    asked.events.push_back(event);
    asked.ended = true;
  });
  EXPECT_TRUE(asked.events.empty()) << "never from within Ask";
  Finish(asked);
  EXPECT_EQ(asked.Error().kind, ErrorClass::kBadRequest);
  EXPECT_EQ(Requests(), 0u);
}

TEST_F(LlmResilienceTest, EachTimeoutEndsWithItsClassAndName) {
  LlmTimeouts& timeouts = config_.llm.providers["anthropic"].timeouts;
  timeouts.first_token = milliseconds(250);
  for (const char* behaviour : {"hang", "hangheaders", "slowfirst:60000", "pings"}) {
    const auto asked = Answer({std::string("anthropic/") + behaviour});
    EXPECT_EQ(asked->Error().kind, ErrorClass::kStalled) << behaviour << asked->Error().message;
    EXPECT_THAT(asked->Error().message, HasSubstr("timeouts.firstToken, 250ms"));
  }
  timeouts.first_token = seconds(20);
  timeouts.stall = milliseconds(250);
  const auto stalled = Answer({"anthropic/stall"});
  EXPECT_EQ(stalled->Text(), "ok");
  EXPECT_THAT(stalled->Error().message, HasSubstr("timeouts.stall, 250ms"));
  timeouts.stall = seconds(20);
  timeouts.total = milliseconds(400);
  const auto total = Answer({"anthropic/paced:50"});
  EXPECT_EQ(total->Error().kind, ErrorClass::kStalled);
  EXPECT_THAT(total->Error().message, HasSubstr("timeouts.total, 400ms"));
  EXPECT_TRUE(StepUntil([] { return upstream_->Stats()["open"] == 0; })) << "and their connections are closed";
}

TEST_F(LlmResilienceTest, WithoutAConnectionTheErrorSaysSo) {
  const FullPort full;
  LlmProviderConfig& provider = config_.llm.providers["hung"];
  provider.base_url = "http://127.0.0.1:" + std::to_string(full.port());
  provider.timeouts.connect = milliseconds(300);
  const auto hung = Answer({"hung/m"});
  EXPECT_EQ(hung->Error().kind, ErrorClass::kNetwork);
  EXPECT_THAT(hung->Error().message, HasSubstr("no connection within timeouts.connect, 300ms"));
  config_.llm.providers["nobody"].base_url = "http://127.0.0.1:1";
  EXPECT_THAT(Answer({"nobody/m"})->Error().message, HasSubstr("no connection: Connection refused"));
  EXPECT_EQ(Answer({"nobody/m", "chat/instant"})->Text(), "ok");
}

TEST_F(LlmResilienceTest, WhoLeavesIsCancelledAtEveryStage) {
  for (const char* behaviour : {"hang", "hangheaders", "stall", "paced:20", "flood"}) {
    upstream_->Reset();
    auto asked = Ask({std::string("chat/") + behaviour});
    asked->at_text = [&] { asked->running.reset(); };
    const bool content = std::string(behaviour) != "hang" && std::string(behaviour) != "hangheaders";
    ASSERT_TRUE(StepUntil([&] { return content ? asked->running == nullptr : upstream_->Stats()["open"] == 1; })) << behaviour;
    asked->running.reset();
    EXPECT_TRUE(StepUntil([] { return upstream_->Stats()["aborted"] == 1; }, seconds(3))) << behaviour;  // milliseconds on a machine that is not busy
  }
  EXPECT_EQ(Metric(R"(beige_llm_requests_total{agent="a1",model="hang",namespace="default",outcome="cancelled",provider="chat"})"), 1);
}

TEST_F(LlmResilienceTest, ACancelledStreamsTokensAreCounted) {
  auto asked = Ask({"anthropic/stall"});
  ASSERT_TRUE(StepUntil([&] { return !asked->Text().empty(); }));
  asked->running.reset();
  EXPECT_EQ(Metric(R"(beige_llm_tokens_total{agent="a1",kind="input",model="stall",namespace="default",provider="anthropic"})"), 10);
}

TEST_F(LlmResilienceTest, ASlowReaderHoldsTheProviderBack) {
  auto asked = Ask({"chat/flood"});
  size_t events = 0;
  asked->at_text = [&] {
    asked->running->Pause();
    events = asked->events.size();
  };
  ASSERT_TRUE(StepUntil([&] { return events > 0; }));
  // What is sent ends up in the kernel's buffers, and then nothing goes any more.
  int64_t sent = -1;
  ASSERT_TRUE(StepUntil([&] {
    for (int i = 0; i < 10; ++i) loop_.RunOnce(milliseconds(10));
    const int64_t now = upstream_->Stats()["sent"].get<int64_t>();
    return std::exchange(sent, now) == now;
  }));
  EXPECT_LT(sent, 24 << 20);
  EXPECT_EQ(asked->events.size(), events);
  bool more = false;
  asked->at_text = [&] {
    asked->running.reset();
    more = true;
  };
  asked->running->Resume();
  EXPECT_TRUE(StepUntil([&] { return more; }));
}

TEST_F(LlmResilienceTest, NoMoreRequestsAtOnceThanTheProviderHasPlaces) {
  config_.llm.providers["chat"].concurrency = 3;
  std::vector<std::unique_ptr<Asked>> all;
  for (int i = 0; i < 12; ++i) all.push_back(Ask({"chat/slowfirst:200"}, "a" + std::to_string(i % 3)));
  for (auto& asked : all) Finish(*asked);
  for (auto& asked : all) EXPECT_EQ(asked->Text(), "ok");
  EXPECT_EQ(upstream_->Stats()["peak"], 3);
}

TEST_F(LlmResilienceTest, AWaiterThatLeavesOrFailsFreesItsTurn) {
  config_.llm.providers["chat"].concurrency = 1;
  auto first = Ask({"chat/stall"});
  ASSERT_TRUE(StepUntil([&] { return !first->Text().empty(); }));
  auto second = Ask({"chat/instant"}), third = Ask({"chat/instant"});
  for (int i = 0; i < 5; ++i) loop_.RunOnce(milliseconds(10));
  EXPECT_EQ(llm_->Models().front().waiting, 2u);
  second->running.reset();
  first->running.reset();
  Finish(*third);
  EXPECT_EQ(third->Text(), "ok");
  EXPECT_TRUE(second->events.empty());
}

TEST_F(LlmResilienceTest, WaitingForAPlaceEndsAtItsDeadlineAndAnotherProviderIsAsked) {
  config_.llm.providers["chat"].concurrency = 1;
  config_.llm.providers["chat"].timeouts.queue = milliseconds(200);
  auto first = Ask({"chat/stall"});
  ASSERT_TRUE(StepUntil([&] { return !first->Text().empty(); }));
  EXPECT_EQ(Answer({"chat/instant"})->Error().kind, ErrorClass::kBusy);
  EXPECT_EQ(Answer({"chat/instant", "anthropic/instant"})->Text(), "ok");
  EXPECT_FALSE(llm_->Models().front().cooling) << "busy is no illness";
}

TEST_F(LlmResilienceTest, TheReceiverMayDestroyTheRequestAtAnyEvent) {
  for (size_t at = 1; at < 6; ++at) {
    Configure();
    size_t seen = 0;
    std::unique_ptr<Llm::Running> running;
    config_.llm.providers["anthropic"].models["think"];
    Configure();
    running = llm_->Ask(kAgent, {{{"anthropic", "think"}, ThinkingLevel::kOff}}, Prompt(), [&](const Event&) {
      if (++seen == at) running.reset();
    });
    ASSERT_TRUE(StepUntil([&] { return running == nullptr; }));
    EXPECT_EQ(seen, at);
  }
  EXPECT_EQ(Answer({"anthropic/instant"})->Text(), "ok");
}

}  // namespace beige::llm
