#include "gateway/control/job_channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <deque>

#include "tests/gateway/core/client.h"

namespace beige::testing {
namespace {

// The gateway's end on a loop that the test steps; the other end is played by hand on a real socket.
class JobChannelTest : public ::testing::Test, public JobChannelOwner {
 protected:
  struct Sink final : JobSink {
    void OnOutput(uint8_t stream, std::string_view bytes) override { (stream == 1 ? out : err).append(bytes); }
    void OnStdinCredit(uint32_t bytes) override { credit += bytes; }
    void OnExit(const v2::Exit& e) override {
      exit = e;
      ++exits;
    }
    std::string out;
    std::string err;
    uint32_t credit = 0;
    v2::Exit exit;
    int exits = 0;
  };

  JobChannelTest() {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    channel_ = std::make_unique<JobChannel>(loop_, batch_, UniqueFd(pair[0]), this);
    peer_ = std::make_unique<V2Client>(UniqueFd(pair[1]), BGE_ROLE_CONTROL);
  }
  void SayHello(size_t key_bytes = 32) {
    std::string fields;
    v2::AppendField(fields, BGE_TAG_KEY, std::string(key_bytes, 'k'));
    v2::AppendField(fields, BGE_TAG_INSTANCE, "i1");
    peer_->Send(0, BGE_HELLO, fields);
  }
  void Register() {
    SayHello();
    Until([&] { return hello_.has_value(); });
    channel_->Accept();
    ASSERT_TRUE(peer_->NextOf(BGE_REGISTERED));
  }
  void Until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!done() && std::chrono::steady_clock::now() < deadline) loop_.RunOnce(std::chrono::milliseconds(10));
    ASSERT_TRUE(done());
  }
  std::string TrueJob() {
    std::string fields;
    job::Arg(fields, "true");
    return fields;
  }
  void SendExit(uint32_t number, uint8_t how, int32_t code, const std::string& text = "") {
    peer_->Send(number, BGE_EXIT, v2::EncodeExit({how, code, text}));
  }

  void OnHello(const Hello& hello) override { hello_ = hello; }
  void OnProbed(std::string_view nonce) override { probed_ = nonce; }
  void OnDown(std::string_view why) override { down_ = why; }

  Loop loop_;
  WriteBatch batch_;
  std::deque<Sink> sinks_;  // outlive the channel, which tells them of its end
  std::unique_ptr<JobChannel> channel_;
  std::unique_ptr<V2Client> peer_;
  std::optional<Hello> hello_;
  std::string probed_;
  std::string down_;
};

TEST_F(JobChannelTest, NoJobGoesOutBeforeRegistration) {
  Sink& sink = sinks_.emplace_back();
  EXPECT_EQ(channel_->Start(TrueJob(), &sink), 0u);
  Register();
  EXPECT_EQ(hello_->instance, "i1");
  EXPECT_NE(channel_->Start(TrueJob(), &sink), 0u);
  EXPECT_TRUE(peer_->NextOf(BGE_JOB));
}

TEST_F(JobChannelTest, ManyJobsShareItAndEndByThemselves) {
  Register();
  std::deque<Sink>& sinks = sinks_;
  sinks.resize(3);
  uint32_t numbers[3];
  for (size_t i = 0; i < 3; ++i) numbers[i] = channel_->Start(TrueJob(), &sinks[i]);
  peer_->Send(numbers[2], BGE_STDOUT, "two");
  peer_->Send(numbers[0], BGE_STDERR, "zero");
  SendExit(numbers[1], BGE_HOW_EXITED, 1);
  SendExit(numbers[2], BGE_HOW_SIGNALED, 9);
  SendExit(numbers[0], BGE_HOW_EXITED, 0);
  Until([&] { return channel_->jobs() == 0; });
  EXPECT_EQ(sinks[2].out, "two");
  EXPECT_EQ(sinks[0].err, "zero");
  EXPECT_EQ(sinks[1].exit.code, 1);
  EXPECT_EQ(sinks[2].exit, (v2::Exit{BGE_HOW_SIGNALED, 9, ""}));
}

TEST_F(JobChannelTest, OutputBeyondTheCreditEndsThatJobAsLostAndKillsIt) {
  Register();
  Sink& sink = sinks_.emplace_back();
  Sink& other = sinks_.emplace_back();
  const uint32_t number = channel_->Start(TrueJob(), &sink);
  const uint32_t second = channel_->Start(TrueJob(), &other);
  peer_->Send(number, BGE_STDOUT, std::string(BGE_CHUNK, 'x'));
  peer_->Send(number, BGE_STDOUT, std::string(BGE_CHUNK, 'x'));
  peer_->Send(number, BGE_STDOUT, "one too many");
  Until([&] { return sink.exits == 1; });
  EXPECT_EQ(sink.exit.how, BGE_HOW_LOST);
  EXPECT_EQ(sink.out.size(), size_t{BGE_WINDOW_INITIAL});
  const auto kill = peer_->NextOf(BGE_SIGNAL);
  ASSERT_TRUE(kill);
  EXPECT_EQ(kill->header.call, number);
  EXPECT_EQ(kill->payload, "\x09");
  SendExit(number, BGE_HOW_SIGNALED, 9);
  SendExit(second, BGE_HOW_EXITED, 0);
  Until([&] { return other.exits == 1; });
  EXPECT_EQ(sink.exits, 1);
}

TEST_F(JobChannelTest, CreditIsRelayedButNeverBeyondTheWindow) {
  Register();
  Sink& sink = sinks_.emplace_back();
  const uint32_t number = channel_->Start(TrueJob(), &sink);
  channel_->Credit(number, 1, 1000);  // nothing is outstanding yet: there is nothing to return
  peer_->Send(number, BGE_STDOUT, std::string(1000, 'x'));
  Until([&] { return sink.out.size() == 1000; });
  channel_->Credit(number, 1, 1u << 30);
  const auto window = peer_->NextOf(BGE_WINDOW);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->header.stream, 1);
  EXPECT_EQ(*v2::DecodeWindow(window->payload), 1000u);
  std::string credit;
  v2::AppendWindow(credit, number, 0, 1u << 31);
  peer_->raw().Send(credit);
  peer_->Send(number, BGE_STDOUT, "y");
  Until([&] { return sink.out.size() == 1001; });
  EXPECT_EQ(sink.credit, 0u);
}

TEST_F(JobChannelTest, StdinBeyondTheWindowIsNotSent) {
  Register();
  Sink& sink = sinks_.emplace_back();
  const uint32_t number = channel_->Start(TrueJob(), &sink);
  EXPECT_TRUE(channel_->Stdin(number, std::string(BGE_WINDOW_INITIAL, 'i')));
  EXPECT_FALSE(channel_->Stdin(number, "i"));
  std::string credit;
  v2::AppendWindow(credit, number, 0, 5);
  peer_->raw().Send(credit);
  Until([&] { return sink.credit == 5; });
  EXPECT_TRUE(channel_->Stdin(number, "12345"));
  EXPECT_FALSE(channel_->Stdin(number, "6"));
}

TEST_F(JobChannelTest, WhenItEndsEveryJobIsLost) {
  Register();
  std::deque<Sink>& sinks = sinks_;
  sinks.resize(2);
  for (auto& sink : sinks) (void)channel_->Start(TrueJob(), &sink);
  peer_->raw().Close();
  Until([&] { return !down_.empty(); });
  for (const auto& sink : sinks) {
    EXPECT_EQ(sink.exit.how, BGE_HOW_LOST);
    EXPECT_EQ(sink.exit.code, 125);
  }
  EXPECT_EQ(channel_->Start(TrueJob(), &sinks[0]), 0u);
}

TEST_F(JobChannelTest, AnAbandonedJobIsKilledAndOnlyItsExitIsHeard) {
  Register();
  Sink& before = sinks_.emplace_back();
  Sink& after = sinks_.emplace_back();
  const uint32_t number = channel_->Start(TrueJob(), &before);
  channel_->Abandon(number, &after);
  ASSERT_TRUE(peer_->NextOf(BGE_SIGNAL));
  peer_->Send(number, BGE_STDOUT, std::string(2 * BGE_CHUNK, 'x'));
  peer_->Send(number, BGE_STDOUT, std::string(2 * BGE_CHUNK, 'x'));
  SendExit(number, BGE_HOW_SIGNALED, 9);
  Until([&] { return after.exits == 1; });
  EXPECT_EQ(before.exits, 0);
  EXPECT_TRUE(before.out.empty());
  EXPECT_TRUE(after.out.empty());
}

TEST_F(JobChannelTest, ThePeerCantClaimADenialOrACodeThatNoShellKnows) {
  Register();
  Sink& sink = sinks_.emplace_back();
  const uint32_t number = channel_->Start(TrueJob(), &sink);
  SendExit(number, BGE_HOW_DENIED, 70000, std::string(5000, 't'));
  Until([&] { return sink.exits == 1; });
  EXPECT_EQ(sink.exit.how, BGE_HOW_FAILED);
  EXPECT_EQ(sink.exit.code, 255);
  EXPECT_EQ(sink.exit.text.size(), 1024u);
}

TEST_F(JobChannelTest, BrokenPeersAreRefused) {
  SayHello(31);
  Until([&] { return !down_.empty(); });
  EXPECT_NE(down_.find("key of 32 bytes"), std::string::npos);
  EXPECT_TRUE(peer_->NextOf(BGE_REFUSED));
}

TEST_F(JobChannelTest, AFrameBeyondTheLimitEndsTheChannel) {
  Register();
  Sink& sink = sinks_.emplace_back();
  const uint32_t number = channel_->Start(TrueJob(), &sink);
  std::string frame;
  v2::AppendFrame(frame, number, BGE_STDOUT, "x");
  frame[2] = '\x7F';
  peer_->raw().Send(frame);
  Until([&] { return sink.exits == 1; });
  EXPECT_NE(down_.find("the limit is"), std::string::npos);
}

}  // namespace
}  // namespace beige::testing
