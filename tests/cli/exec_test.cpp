#include <gmock/gmock.h>
#include <signal.h>

#include "gateway.h"
#include "home.h"

namespace beige::testing {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ExecTest, SendsWhatTheCallerSaid) {
  const Home home;
  TestGateway::Exec seen;
  uint16_t role = 0;
  {
    TestGateway gateway(home, [&](Peer& peer, const TestGateway::Exec& exec) {
      seen = exec;
      role = peer.preamble.role;
      peer.Exit(BGE_HOW_EXITED, 0);
    });
    const Outcome outcome = home.Beige({"-n", "team", "exec", "--timeout", "1m30s", "--env", "A=1", "--env", "B=x y", "--workdir", "/tmp", "a1", "--", "sh", "-c", "echo \"$1\"", "--", "-i"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  }
  EXPECT_EQ(role, BGE_ROLE_CLI);
  EXPECT_THAT(seen.All(BGE_TAG_ARG), ElementsAre("sh", "-c", "echo \"$1\"", "--", "-i"));
  EXPECT_THAT(seen.All(BGE_TAG_ENV), ElementsAre("A=1", "B=x y"));
  EXPECT_EQ(seen.One(BGE_TAG_NAMESPACE), "team");
  EXPECT_EQ(seen.One(BGE_TAG_AGENT), "a1");
  EXPECT_EQ(seen.One(BGE_TAG_CWD), "/tmp");
  EXPECT_EQ(v2::FieldU32(seen.One(BGE_TAG_DEADLINE)).value(), 90000u);
  EXPECT_EQ(seen.One(BGE_TAG_FLAGS), "") << "no stdin without -i";
  EXPECT_EQ(seen.One(BGE_TAG_TTY), "");
}

TEST(ExecTest, KeepsStdoutAndStderrApartAndGivesTheExitStatus) {
  const Home home;
  TestGateway gateway(home, [](Peer& peer, const TestGateway::Exec&) {
    peer.Send(BGE_STARTED, "\x07\0\0\0");
    peer.Send(BGE_STDOUT, std::string_view("o\0ut\xff", 5));
    peer.Send(BGE_STDERR, "err");
    peer.Exit(BGE_HOW_EXITED, 3);
  });
  const Outcome outcome = home.Beige({"exec", "a1", "--", "x"});
  EXPECT_EQ(outcome.out, std::string("o\0ut\xff", 5));
  EXPECT_EQ(outcome.err, "err");
  EXPECT_EQ(outcome.status, 3);
}

struct EndCase {
  v2::Exit exit;
  int status;
  std::string error;
};

TEST(ExecTest, EveryEndHasItsExitStatusAndItsWords) {
  const EndCase cases[] = {
      {{BGE_HOW_EXITED, 255, ""}, 255, ""},
      {{BGE_HOW_SIGNALED, 9, ""}, 137, ""},
      {{BGE_HOW_SIGNALED, 15, ""}, 143, ""},
      {{BGE_HOW_FAILED, 127, "nosuch: not found"}, 127, "beige: exec: nosuch: not found\n"},
      {{BGE_HOW_FAILED, 126, "x: permission denied"}, 126, "beige: exec: x: permission denied\n"},
      {{BGE_HOW_FAILED, 125, "no such agent a1"}, 125, "beige: exec: no such agent a1\n"},
      {{BGE_HOW_DENIED, 126, "beige: exec: denied by policy"}, 126, "denied by policy\n"},
      {{BGE_HOW_DENIED, 127, "nobody knows it"}, 127, "nobody knows it\n"},
      {{BGE_HOW_TIMEOUT, 124, ""}, 124, "beige: exec: x: timed out after 5s\n"},
      {{BGE_HOW_LOST, 125, ""}, 125, "went away; see 'beige describe agent a1'\n"},
  };
  for (const auto& c : cases) {
    const Home home;
    TestGateway gateway(home, [&](Peer& peer, const TestGateway::Exec&) { peer.Exit(c.exit.how, c.exit.code, c.exit.text); });
    const Outcome outcome = home.Beige({"exec", "--timeout=5s", "a1", "--", "x"});
    EXPECT_EQ(outcome.status, c.status);
    if (c.error.empty()) {
      EXPECT_EQ(outcome.err, "");
    } else {
      EXPECT_THAT(outcome.err, HasSubstr(c.error));
    }
  }
}

TEST(ExecTest, PassesStdinWithinTheWindowAndItsEnd) {
  const Home home;
  const std::string input(1 << 20, 'i');
  std::string received;
  size_t most = 0;
  bool ended = false;
  uint32_t flags = 0;
  Outcome outcome;
  {
    TestGateway gateway(home, [&](Peer& peer, const TestGateway::Exec& exec) {
      flags = v2::FieldU32(exec.One(BGE_TAG_FLAGS)).value_or(0);
      size_t outstanding = 0;
      while (const auto frame = peer.NextOf({BGE_STDIN})) {
        if (frame->payload.empty()) {
          ended = true;
          break;
        }
        EXPECT_LE(frame->payload.size(), static_cast<size_t>(BGE_CHUNK));
        received += frame->payload;
        outstanding += frame->payload.size();
        most = std::max(most, outstanding);
        if (outstanding == BGE_WINDOW_INITIAL) {  // only when all is used up: whoever ignores the window is found out
          peer.Credit(0, BGE_WINDOW_INITIAL);
          outstanding = 0;
        }
      }
      peer.Exit(BGE_HOW_EXITED, 0);
    });
    outcome = home.Beige({"exec", "-i", "a1", "--", "cat"}, input);
  }
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(flags, BGE_FLAG_STDIN);
  EXPECT_TRUE(ended);
  EXPECT_EQ(received.size(), input.size());
  EXPECT_EQ(most, static_cast<size_t>(BGE_WINDOW_INITIAL));
}

TEST(ExecTest, ReturnsCreditForWhatItWroteAndLosesNothing) {
  const Home home;
  const size_t total = 3 << 20;
  TestGateway gateway(home, [&](Peer& peer, const TestGateway::Exec&) {
    size_t window = BGE_WINDOW_INITIAL;
    for (size_t sent = 0; sent < total;) {
      const size_t n = std::min<size_t>({window, BGE_CHUNK, total - sent});
      if (n > 0) peer.Send(BGE_STDOUT, std::string(n, static_cast<char>('a' + sent / BGE_CHUNK % 26)));
      sent += n;
      window -= n;
      if (window > 0) continue;
      const auto frame = peer.NextOf({BGE_WINDOW});
      if (!frame) return;
      EXPECT_EQ(frame->header.stream, 1);
      window += v2::DecodeWindow(frame->payload).value();
    }
    peer.Exit(BGE_HOW_EXITED, 0);
  });
  const Outcome outcome = home.Beige({"exec", "a1", "--", "cat"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  ASSERT_EQ(outcome.out.size(), total);
  EXPECT_EQ(outcome.out[total - 1], static_cast<char>('a' + (total - 1) / BGE_CHUNK % 26));
}

TEST(ExecTest, AGatewayThatGoesAwayOrRefusesOrSpeaksNonsenseIs125) {
  const std::pair<std::function<void(Peer&)>, const char*> cases[] = {
      {[](Peer&) {}, "the gateway went away"},
      {[](Peer& peer) { peer.Send(BGE_REFUSED, "too many connections"); }, "too many connections"},
      {[](Peer& peer) { peer.SendRaw(std::string(BGE_HEADER_BYTES, '\xff')); }, "protocol: frame of"},
      {[](Peer& peer) { for (int i = 0; i < 16; ++i) peer.Send(BGE_STDOUT, std::string(BGE_CHUNK, 'x')); peer.Next(); }, ""},
  };
  for (const auto& [script, error] : cases) {
    const Home home;
    TestGateway gateway(home, [play = script](Peer& peer, const TestGateway::Exec&) { play(peer); });
    const Outcome outcome = home.Beige({"exec", "a1", "--", "x"});
    EXPECT_EQ(outcome.status, 125);
    EXPECT_THAT(outcome.err, HasSubstr(error));
  }
}

TEST(ExecTest, ForwardsSignals) {
  const Home home;
  std::vector<int> signals;
  Outcome outcome;
  {
    TestGateway gateway(home, [&](Peer& peer, const TestGateway::Exec&) {
      peer.Send(BGE_STDOUT, "ready\n");
      for (int i = 0; i < 3; ++i) {
        const auto frame = peer.NextOf({BGE_SIGNAL});
        if (frame && frame->payload.size() == 1) signals.push_back(frame->payload[0]);
        peer.Send(BGE_STDOUT, "got" + std::to_string(i) + "\n");
      }
      peer.Exit(BGE_HOW_SIGNALED, SIGTERM);
    });
    Program exec(home.Command({"exec", "a1", "--", "x"}));
    ASSERT_TRUE(exec.AwaitOutput("ready"));
    exec.Signal(SIGINT);
    ASSERT_TRUE(exec.AwaitOutput("got0"));
    exec.Signal(SIGHUP);
    ASSERT_TRUE(exec.AwaitOutput("got1"));
    exec.Signal(SIGTERM);
    outcome = exec.Finish();
  }
  EXPECT_THAT(signals, ElementsAre(SIGINT, SIGHUP, SIGTERM));
  EXPECT_EQ(outcome.status, 128 + SIGTERM);
}

TEST(ExecTest, AReaderThatGoesAwayEndsTheCommandLikeAPipe) {
  const Home home;
  int signal = 0;
  Outcome outcome;
  {
    TestGateway gateway(home, [&](Peer& peer, const TestGateway::Exec&) {
      peer.Send(BGE_STDOUT, "first\n");
      if (!peer.NextOf({BGE_WINDOW})) return;
      peer.Next();  // stdin's end, sent by the test once the reader is gone
      peer.Send(BGE_STDOUT, "second\n");
      const auto frame = peer.NextOf({BGE_SIGNAL});
      if (frame && frame->payload.size() == 1) signal = frame->payload[0];
      // A runner tells the end only after all output has left, which takes credit for bytes that nobody reads.
      for (size_t sent = 0; sent < 4 * BGE_WINDOW_INITIAL; sent += BGE_CHUNK) {
        if (!peer.NextOf({BGE_WINDOW})) return;
        peer.Send(BGE_STDOUT, std::string(BGE_CHUNK, 'y'));
      }
      peer.Exit(BGE_HOW_SIGNALED, SIGPIPE);
    });
    Program exec(home.Command({"exec", "-i", "a1", "--", "yes"}));
    ASSERT_TRUE(exec.AwaitOutput("first"));
    exec.CloseOutput();
    exec.CloseInput();
    outcome = exec.Finish();
  }
  EXPECT_EQ(signal, SIGPIPE);
  EXPECT_EQ(outcome.status, 128 + SIGPIPE);
}

TEST(ExecTest, ACommandThatIgnoresTheLostReaderIsLeftAfterAGrace) {
  const Home home;
  bool closed = false;
  Outcome outcome;
  {
    TestGateway gateway(home, [&](Peer& peer, const TestGateway::Exec&) {
      peer.Send(BGE_STDOUT, "first\n");
      peer.NextOf({BGE_STDIN});
      peer.Send(BGE_STDOUT, "second\n");
      while (peer.Next()) {
      }
      closed = true;
    });
    Program exec(home.Command({"exec", "-i", "a1", "--", "yes"}));
    ASSERT_TRUE(exec.AwaitOutput("first"));
    exec.CloseOutput();
    exec.CloseInput();
    outcome = exec.Finish();
  }
  EXPECT_TRUE(closed);
  EXPECT_EQ(outcome.status, 128 + SIGPIPE);
}

TEST(ExecTest, FourInterruptsLeaveAGatewayThatHangs) {
  const Home home;
  Outcome outcome;
  {
    TestGateway gateway(home, [&](Peer& peer, const TestGateway::Exec&) {
      for (int i = 0; i < 4; ++i) {
        peer.Send(BGE_STDOUT, "press" + std::to_string(i) + "\n");
        if (!peer.NextOf({BGE_SIGNAL})) return;
      }
    });
    Program exec(home.Command({"exec", "a1", "--", "x"}));
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(exec.AwaitOutput("press" + std::to_string(i)));
      exec.Signal(SIGINT);
    }
    outcome = exec.Finish();
  }
  EXPECT_EQ(outcome.status, 125);
}

}  // namespace
}  // namespace beige::testing
