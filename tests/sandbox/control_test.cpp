// The control channel: registration, reconnects, probes, the end of the sandbox.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <chrono>

#include "cage.h"

namespace beige::sandbox_test {
namespace {

std::string KeyOf(const std::string& hello) {
  const auto keys = FieldsOf(hello, BGE_TAG_KEY);
  return keys.size() == 1 ? keys[0] : "";
}

TEST(ControlTest, HelloCarriesARandomKeyTheInstanceAndAVersion) {
  Cage cage;
  EXPECT_EQ(KeyOf(cage.hello()).size(), 32u);
  EXPECT_NE(KeyOf(cage.hello()), std::string(32, '\0'));
  EXPECT_EQ(FieldsOf(cage.hello(), BGE_TAG_INSTANCE), std::vector<std::string>{"instance-1"});
  ASSERT_EQ(FieldsOf(cage.hello(), BGE_TAG_VERSION).size(), 1u);
  Cage other;
  EXPECT_NE(KeyOf(cage.hello()), KeyOf(other.hello()));
}

TEST(ControlTest, ReconnectsWithTheSameKeyAfterTheGatewayWentAway) {
  Cage cage;
  const std::string key = KeyOf(cage.hello());
  for (int i = 0; i < 3; ++i) {
    cage.StopListening();
    cage.Disconnect();
    cage.ListenAgain();
    ASSERT_TRUE(cage.Register());
    EXPECT_EQ(KeyOf(cage.hello()), key);
    EXPECT_EQ(cage.RunShell("echo again").out, "again\n");
  }
}

TEST(ControlTest, WaitsForAGatewayThatIsNotThereYet) {
  CageOptions options;
  options.register_now = false;
  Cage cage(options);
  cage.StopListening();
  cage.ListenAgain();
  ASSERT_TRUE(cage.Register());
  EXPECT_TRUE(cage.Alive());
}

TEST(ControlTest, RunsNoJobBeforeItIsRegistered) {
  CageOptions options;
  options.register_now = false;
  Cage cage(options);
  std::string hello;
  auto channel = cage.AcceptControl(&hello);
  ASSERT_TRUE(channel);
  channel->Send(1, BGE_JOB, FieldOf(BGE_TAG_ARG, "/bin/true"));
  EXPECT_TRUE(channel->Closes());
  ASSERT_TRUE(cage.Register());
  EXPECT_EQ(cage.RunShell("true").how, BGE_HOW_EXITED);
}

TEST(ControlTest, KeepsTryingAfterARefusal) {
  CageOptions options;
  options.register_now = false;
  Cage cage(options);
  std::string first;
  {
    auto channel = cage.AcceptControl(&first);
    ASSERT_TRUE(channel);
    channel->Send(0, BGE_REFUSED, "no start was announced");
    EXPECT_TRUE(channel->Closes());
  }
  ASSERT_TRUE(cage.Register());
  EXPECT_EQ(KeyOf(cage.hello()), KeyOf(first));
}

TEST(ControlTest, ComesAgainWhenTheGatewaySpeaksNoCommonVersion) {
  CageOptions options;
  options.register_now = false;
  Cage cage(options);
  std::string hello;
  ASSERT_TRUE(cage.AcceptControl(&hello));
  cage.StopListening();
  Listener listener(cage.link() + "/control.sock");
  auto channel = listener.Accept();
  ASSERT_TRUE(channel);
  ASSERT_TRUE(channel->ReadBytes(BGE_PREAMBLE_BYTES));
  channel->SendBytes(Preamble(BGE_ROLE_CONTROL, 0, 0));
  EXPECT_TRUE(channel->Closes());
  EXPECT_TRUE(listener.Accept());
}

TEST(ControlTest, AnswersPing) {
  Cage cage;
  EXPECT_TRUE(cage.Alive());
}

TEST(ControlTest, DropsAConnectionThatSendsAFrameBeyondTheLimit) {
  Cage cage;
  cage.control().SendBytes(U32(BGE_MAX_PAYLOAD + 1) + U32(1) + std::string("\x02\0\0\0", 4));
  EXPECT_TRUE(cage.control().Closes());
  cage.Disconnect();
  EXPECT_TRUE(cage.Register());
}

TEST(ControlTest, ProbesTheGatewaySocketWithAFreshConnection) {
  Cage cage;
  for (int i = 0; i < 3; ++i) {
    const std::string nonce = "nonce-of-probe-" + std::to_string(i);
    cage.control().Send(0, BGE_PROBE, nonce);
    auto stream = cage.gateway().Accept();
    ASSERT_TRUE(stream);
    EXPECT_EQ(stream->ReadBytes(BGE_PREAMBLE_BYTES), Preamble(BGE_ROLE_PROBE));
    const auto frame = stream->Next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->kind, BGE_PROBE);
    EXPECT_EQ(frame->payload, nonce);
    stream->SendBytes(Preamble(BGE_ROLE_PROBE));
    stream->Send(0, BGE_PROBED, nonce);
    const auto answer = cage.control().Next();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->kind, BGE_PROBED);
    EXPECT_EQ(answer->payload, nonce);
  }
}

TEST(ControlTest, ReportsAFailedProbeEmptyAndGoesOnServing) {
  Cage cage;
  cage.StopGatewaySocket();
  cage.control().Send(0, BGE_PROBE, std::string(16, 'n'));
  EXPECT_EQ(cage.RunShell("echo meanwhile").out, "meanwhile\n");
  const auto answer = cage.control().Next();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, BGE_PROBED);
  EXPECT_EQ(answer->payload, "");
}

TEST(ControlTest, AProbeWithAWrongEchoFails) {
  Cage cage;
  cage.control().Send(0, BGE_PROBE, std::string(16, 'a'));
  auto stream = cage.gateway().Accept();
  ASSERT_TRUE(stream);
  stream->SendBytes(Preamble(BGE_ROLE_PROBE));
  stream->Send(0, BGE_PROBED, std::string(16, 'b'));
  const auto answer = cage.control().Next();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, BGE_PROBED);
  EXPECT_EQ(answer->payload, "");
}

TEST(ControlTest, SigtermFromOutsideEndsTheSandboxAndItsJobs) {
  Cage cage;
  const uint32_t call = cage.Start(Shell("trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.05; done", 0));
  ASSERT_TRUE(cage.WaitForOutput(call, "up"));
  kill(cage.pid1(), SIGTERM);
  const Outcome outcome = cage.Finish(call);
  EXPECT_EQ(outcome.out, "up\nbye\n");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(cage.Ends());
}

TEST(ControlTest, SigtermFromOutsideEndsTheSandboxEvenWhenJobsIgnoreIt) {
  Cage cage;
  const uint32_t call = cage.Start(Shell("trap '' TERM; echo up; sleep 100", 0));
  ASSERT_TRUE(cage.WaitForOutput(call, "up"));
  kill(cage.pid1(), SIGTERM);
  EXPECT_TRUE(cage.Ends());
}

TEST(ControlTest, AttachedJobsEndTenSecondsAfterTheGatewayWentAndDetachedOnesGoOn) {
  Cage cage;
  const auto start = [&](uint32_t flags) {
    const uint32_t call = cage.Start(Shell("echo $$; while :; do sleep 0.1; echo noise; done", flags));
    EXPECT_TRUE(cage.WaitForOutput(call, "noise"));
    return std::to_string(cage.PartialOf(call).started_pid);
  };
  const std::string attached = start(0);
  const std::string detached = start(BGE_FLAG_DETACHED);
  cage.Disconnect();
  const auto lost = std::chrono::steady_clock::now();
  ASSERT_TRUE(cage.Register());
  EXPECT_EQ(cage.RunShell("kill -0 " + attached + " && kill -0 " + detached).code, 0);
  EXPECT_EQ(cage.Finish(cage.Start(Shell("while kill -0 " + attached + " 2>/dev/null; do sleep 0.05; done; echo gone"))).out, "gone\n");
  const auto after = std::chrono::steady_clock::now() - lost;
  EXPECT_GE(after, std::chrono::milliseconds(9900));
  EXPECT_LE(after, std::chrono::milliseconds(20000));
  EXPECT_EQ(cage.RunShell("kill -0 " + detached).code, 0);
}

}  // namespace
}  // namespace beige::sandbox_test
