#include <gmock/gmock.h>
#include <signal.h>

#include <atomic>

#include "gateway.h"
#include "terminal.h"

namespace beige::testing {
namespace {

TEST(ExecTerminalTest, IsRawWhileTheCommandRunsAndAsBeforeAfterIt) {
  const Home home;
  Terminal terminal;
  bool raw_inside = false;
  std::string typed;
  v2::TerminalSize size;
  v2::TerminalSize resized;
  int status = 0;
  {
    std::atomic<pid_t> pid = 0;
    TestGateway gateway(home, [&](Peer& peer, const TestGateway::Exec& exec) {
      size = v2::DecodeSize(exec.One(BGE_TAG_TTY)).value_or(v2::TerminalSize{});
      raw_inside = terminal.Raw();
      terminal.Type("\x03\x04");  // Ctrl-C and Ctrl-D are the command's to read
      while (typed.size() < 2) {
        const auto frame = peer.NextOf({BGE_STDIN});
        if (!frame) return;
        typed += frame->payload;
      }
      terminal.Resize(120, 50);
      ::kill(pid, SIGWINCH);  // the terminal is nobody's controlling one here
      if (const auto frame = peer.NextOf({BGE_RESIZE})) resized = v2::DecodeSize(frame->payload).value_or(v2::TerminalSize{});
      peer.Exit(BGE_HOW_EXITED, 7);
    });
    ASSERT_FALSE(terminal.Raw());
    pid = terminal.Start(home.Command({"exec", "-it", "a1", "--", "bash"}));
    ASSERT_GT(pid, 0);
    status = terminal.Wait();
  }
  EXPECT_EQ(status, 7);
  EXPECT_TRUE(raw_inside);
  EXPECT_FALSE(terminal.Raw());
  EXPECT_EQ(typed, "\x03\x04");
  EXPECT_EQ(size, (v2::TerminalSize{100, 40}));
  EXPECT_EQ(resized, (v2::TerminalSize{120, 50}));
}

}  // namespace
}  // namespace beige::testing
