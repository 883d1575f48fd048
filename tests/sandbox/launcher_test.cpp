// The launcher inside a sandbox, with the test as the gateway behind gateway.sock.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <memory>

#include "cage.h"

namespace beige::sandbox_test {
namespace {

std::string ExitPayload(uint8_t how, int code, const std::string& text = "") {
  return std::string(1, static_cast<char>(how)) + U32(static_cast<uint32_t>(code)) + text;
}

class LauncherTest : public testing::Test {
 protected:
  // Starts `script` in the sandbox and takes the call that it makes.
  void Start(const std::string& script, uint32_t flags = BGE_FLAG_KILL_TREE) {
    JobSpec spec = Shell(script, flags);
    spec.env = {"BEIGE_SESSION_KEY=session-9", "BEIGE_CHANNEL=tui"};
    job_ = cage_.Start(spec);
  }
  bool TakeCall() {
    auto stream = cage_.gateway().Accept();
    if (!stream) return false;
    stream_ = std::make_unique<Channel>(std::move(*stream));
    if (stream_->ReadBytes(BGE_PREAMBLE_BYTES) != Preamble(BGE_ROLE_CALLER)) return false;
    const auto frame = stream_->Next();
    if (!frame || frame->kind != BGE_CALL) return false;
    request_ = frame->payload;
    call_ = frame->call;
    return true;
  }
  void Accept() { stream_->SendBytes(Preamble(BGE_ROLE_CALLER)); }
  void Answer(const std::string& exit_payload) {
    // In one write, as the gateway does what it knows at once.
    const std::string kind{static_cast<char>(BGE_EXIT), '\0', '\0', '\0'};
    stream_->SendBytes(Preamble(BGE_ROLE_CALLER) + U32(static_cast<uint32_t>(exit_payload.size())) + U32(call_) + kind + exit_payload);
  }
  Outcome Done() { return cage_.Finish(job_); }
  Outcome CallEndsWith(const std::string& exit_payload) {
    Start("kv get a");
    EXPECT_TRUE(TakeCall());
    Answer(exit_payload);
    return Done();
  }

  Cage cage_;
  uint32_t job_ = 0, call_ = 0;
  std::unique_ptr<Channel> stream_;
  std::string request_;
};

TEST_F(LauncherTest, SendsTheCallWithArgumentsDirectoryAndClaims) {
  Start("cd /usr/lib; kv set 'a b' '' \"$(printf '\\377')\" </dev/null");
  ASSERT_TRUE(TakeCall());
  EXPECT_EQ(FieldsOf(request_, BGE_TAG_TOOL), std::vector<std::string>{"kv"});
  EXPECT_EQ(FieldsOf(request_, BGE_TAG_ARG), (std::vector<std::string>{"set", "a b", "", "\377"}));
  EXPECT_EQ(FieldsOf(request_, BGE_TAG_CWD), std::vector<std::string>{"/usr/lib"});
  EXPECT_EQ(FieldsOf(request_, BGE_TAG_SESSION), std::vector<std::string>{"session-9"});
  EXPECT_EQ(FieldsOf(request_, BGE_TAG_CHANNEL), std::vector<std::string>{"tui"});
  EXPECT_EQ(FieldsOf(request_, BGE_TAG_FLAGS), std::vector<std::string>{U32(0)});
  Answer(ExitPayload(BGE_HOW_EXITED, 0));
  EXPECT_EQ(Done().code, 0);
}

TEST_F(LauncherTest, RunCallsAToolByName) {
  Start("/beige/bin/beige-sandbox run other -x");
  ASSERT_TRUE(TakeCall());
  EXPECT_EQ(FieldsOf(request_, BGE_TAG_TOOL), std::vector<std::string>{"other"});
  EXPECT_EQ(FieldsOf(request_, BGE_TAG_ARG), std::vector<std::string>{"-x"});
}

TEST_F(LauncherTest, OffersStdinUnlessItIsClosedOrDevNull) {
  const std::pair<const char*, uint32_t> kCases[] = {
      {"kv <&-", 0}, {"kv </dev/null", 0}, {"kv </dev/zero", BGE_FLAG_STDIN}, {"echo | kv", BGE_FLAG_STDIN}, {"kv <$0", BGE_FLAG_STDIN}};
  for (const auto& [script, flags] : kCases) {
    Start(std::string("set -- /usr/bin/sh; sh -c '") + script + "' /usr/bin/sh");
    ASSERT_TRUE(TakeCall());
    EXPECT_EQ(FieldsOf(request_, BGE_TAG_FLAGS), std::vector<std::string>{U32(flags)}) << script;
    Answer(ExitPayload(BGE_HOW_EXITED, 0));
    EXPECT_EQ(Done().code, 0) << script;
  }
}

TEST_F(LauncherTest, PassesTheToolsOwnStatus) {
  for (const int code : {0, 1, 3, 255}) EXPECT_EQ(CallEndsWith(ExitPayload(BGE_HOW_EXITED, code)).code, code);
}

TEST_F(LauncherTest, SaysWhyACallWasDenied) {
  const Outcome outcome = CallEndsWith(ExitPayload(BGE_HOW_DENIED, 126, "kv: denied by policy: not in tools of agent researcher"));
  EXPECT_EQ(outcome.code, 126);
  EXPECT_EQ(outcome.err, "beige: kv: denied by policy: not in tools of agent researcher\n");
  EXPECT_EQ(outcome.out, "");
}

TEST_F(LauncherTest, HasTheAgreedStatusForUnknownTimedOutFailedAndLost) {
  EXPECT_EQ(CallEndsWith(ExitPayload(BGE_HOW_DENIED, 127, "kv: unknown tool")).code, 127);
  const Outcome timeout = CallEndsWith(ExitPayload(BGE_HOW_TIMEOUT, 124));
  EXPECT_EQ(timeout.code, 124);
  EXPECT_EQ(timeout.err, "beige: kv: timed out\n");
  EXPECT_EQ(CallEndsWith(ExitPayload(BGE_HOW_FAILED, 126, "x")).code, 126);
  EXPECT_EQ(CallEndsWith(ExitPayload(BGE_HOW_LOST, 125, "x")).code, 125);
}

TEST_F(LauncherTest, DiesOfTheSignalThatEndedTheTool) {
  for (const int number : {SIGKILL, SIGTERM, SIGINT, SIGSEGV, SIGPIPE}) {
    Start("exec kv");
    ASSERT_TRUE(TakeCall());
    Answer(ExitPayload(BGE_HOW_SIGNALED, number));
    const Outcome outcome = Done();
    EXPECT_EQ(outcome.how, BGE_HOW_SIGNALED);
    EXPECT_EQ(outcome.code, number);
  }
  EXPECT_EQ(CallEndsWith(ExitPayload(BGE_HOW_SIGNALED, SIGSTOP)).code, 128 + SIGSTOP);
}

TEST_F(LauncherTest, EndsWith125WhenTheConnectionBreaks) {
  Start("kv");
  ASSERT_TRUE(TakeCall());
  Accept();
  stream_->Send(call_, BGE_STDOUT, "part");
  stream_.reset();
  const Outcome outcome = Done();
  EXPECT_EQ(outcome.code, 125);
  EXPECT_EQ(outcome.out, "part");
  EXPECT_EQ(outcome.err, "beige: kv: the connection to the gateway was lost\n");
}

TEST_F(LauncherTest, EndsWith125OnAProtocolThatItDoesNotSpeak) {
  for (const std::string& answer : {Preamble(BGE_ROLE_CALLER, 0, 0), std::string("{\"type\":\"tool_response\"}")}) {
    Start("kv");
    ASSERT_TRUE(TakeCall());
    stream_->SendBytes(answer);
    EXPECT_EQ(Done().code, 125);
  }
  Start("kv");
  ASSERT_TRUE(TakeCall());
  Accept();
  stream_->Send(0, BGE_REFUSED, "too many connections: 64 of 64");
  EXPECT_EQ(Done().err, "beige: kv: too many connections: 64 of 64\n");
}

TEST_F(LauncherTest, RetriesAGatewayThatComesBackWithinFiveSeconds) {
  cage_.StopGatewaySocket();
  Start("echo up; kv");
  ASSERT_TRUE(cage_.WaitForOutput(job_, "up"));
  Listener listener(cage_.link() + "/gateway.sock");
  auto stream = listener.Accept();
  ASSERT_TRUE(stream);
  stream->SendBytes(Preamble(BGE_ROLE_CALLER));
  stream->Send(1, BGE_EXIT, ExitPayload(BGE_HOW_EXITED, 9));
  EXPECT_EQ(Done().code, 9);
}

TEST_F(LauncherTest, GivesUpOnAnAbsentGatewayAfterFiveSeconds) {
  cage_.StopGatewaySocket();
  const auto begin = std::chrono::steady_clock::now();
  Start("kv");
  const Outcome outcome = Done();
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(outcome.code, 125);
  EXPECT_EQ(outcome.err,
            "beige: kv: gateway unreachable: /beige/gateway.sock: No such file or directory; it may be down, try again later\n");
  EXPECT_GE(took, std::chrono::milliseconds(4900));
  EXPECT_LE(took, std::chrono::milliseconds(20000));
}

TEST_F(LauncherTest, StreamsBothOutputsInOrderAndReturnsCredit) {
  Start("kv 2>&1");
  ASSERT_TRUE(TakeCall());
  Accept();
  std::string want;
  uint64_t credit[3] = {0, BGE_WINDOW_INITIAL, BGE_WINDOW_INITIAL};
  for (int i = 0; i < 400; ++i) {
    const uint8_t stream = static_cast<uint8_t>(1 + i % 3 / 2);
    const std::string block(20000, static_cast<char>('a' + i % 26));
    while (credit[stream] < block.size()) {
      const auto frame = stream_->Next();
      ASSERT_TRUE(frame);
      if (frame->kind == BGE_WINDOW) credit[frame->stream] += ReadU32(frame->payload);
    }
    ASSERT_TRUE(stream_->Send(call_, stream == 1 ? BGE_STDOUT : BGE_STDERR, block));
    credit[stream] -= block.size();
    want += block;
    // The other end of the launcher's pipe is this test, too.
    ASSERT_TRUE(cage_.WaitForLength(job_, want.size()));
  }
  stream_->Send(call_, BGE_EXIT, ExitPayload(BGE_HOW_EXITED, 0));
  EXPECT_EQ(Done().out, want);
}

TEST_F(LauncherTest, StreamsStdinWithinItsCreditUpToItsEnd) {
  Start("/t/attacker pattern 1000000 | kv");
  ASSERT_TRUE(TakeCall());
  Accept();
  std::string got;
  uint64_t credited = BGE_WINDOW_INITIAL;
  while (true) {
    auto frame = stream_->Next();
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame->kind, BGE_STDIN);
    if (frame->payload.empty()) break;
    got += frame->payload;
    ASSERT_LE(got.size(), credited);
    if (got.size() == credited) {
      stream_->Send(call_, BGE_WINDOW, U32(50000), 0);
      credited += 50000;
    }
  }
  std::string want;
  for (long i = 0; i < 1000000; ++i) want += static_cast<char>(i * 131 >> 3 & 0xff);
  EXPECT_EQ(got, want);
  stream_->Send(call_, BGE_EXIT, ExitPayload(BGE_HOW_EXITED, 0));
  EXPECT_EQ(Done().code, 0);
}

TEST_F(LauncherTest, ReadsNoStdinBeforeTheGatewayAnswered) {
  Start("printf 'one\\ntwo\\n' | { kv; cat; }");
  ASSERT_TRUE(TakeCall());
  Answer(ExitPayload(BGE_HOW_DENIED, 126, "kv: denied"));
  EXPECT_EQ(Done().out, "one\ntwo\n");
}

TEST_F(LauncherTest, ForwardsSignals) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    Start("exec kv");
    ASSERT_TRUE(TakeCall());
    Accept();
    stream_->Send(call_, BGE_STDOUT, "ready");
    ASSERT_TRUE(cage_.WaitForOutput(job_, "ready"));
    cage_.control().Send(job_, BGE_SIGNAL, std::string(1, static_cast<char>(number)));
    const auto frame = stream_->Next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->kind, BGE_SIGNAL);
    EXPECT_EQ(frame->payload, std::string(1, static_cast<char>(number)));
    stream_->Send(call_, BGE_EXIT, ExitPayload(BGE_HOW_EXITED, 0));
    EXPECT_EQ(Done().code, 0);
  }
}

TEST_F(LauncherTest, LeavesAnIgnoredHangupIgnored) {
  Start("trap '' HUP; exec kv");
  ASSERT_TRUE(TakeCall());
  Accept();
  stream_->Send(call_, BGE_STDOUT, "ready");
  ASSERT_TRUE(cage_.WaitForOutput(job_, "ready"));
  cage_.control().Send(job_, BGE_SIGNAL, std::string(1, SIGHUP));
  cage_.control().Send(job_, BGE_SIGNAL, std::string(1, SIGUSR1));
  const auto frame = stream_->Next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->payload, std::string(1, SIGUSR1));
}

TEST_F(LauncherTest, DiesAsAnyCommandWhenNobodyReadsItsOutputAndSoCancelsTheTool) {
  Start("{ kv; echo $? >/tmp/status; } | true; cat /tmp/status");
  ASSERT_TRUE(TakeCall());
  Accept();
  while (stream_->Send(call_, BGE_STDOUT, std::string(100, 'x'))) {
  }
  EXPECT_EQ(Done().out, "141\n");
}

TEST_F(LauncherTest, RefusesMoreArgumentsThanACallTakes) {
  Start("a=$(/usr/bin/printf '%0100000d' 0); kv $a $a $a $a $a $a $a $a $a $a $a");
  const Outcome outcome = Done();
  EXPECT_EQ(outcome.code, 126);
  EXPECT_EQ(outcome.err, "beige: kv: the arguments are too long: a call takes at most 1 MiB; pass the data on stdin\n");
}

TEST_F(LauncherTest, AClosedStdoutIsAnErrorOnlyWhenTheToolWrites) {
  Start("kv >&-");
  ASSERT_TRUE(TakeCall());
  Answer(ExitPayload(BGE_HOW_EXITED, 0));
  EXPECT_EQ(Done().code, 0);
  Start("kv >&-");
  ASSERT_TRUE(TakeCall());
  Accept();
  stream_->Send(call_, BGE_STDOUT, "x");
  stream_->Send(call_, BGE_EXIT, ExitPayload(BGE_HOW_EXITED, 0));
  const Outcome outcome = Done();
  EXPECT_EQ(outcome.code, 125);
  EXPECT_EQ(outcome.err, "beige: kv: stdout: Bad file descriptor\n");
}

}  // namespace
}  // namespace beige::sandbox_test
