#include <fcntl.h>
#include <gmock/gmock.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

#include <atomic>

#include "base/spawn.h"
#include "gateway.h"

namespace beige::testing {
namespace {

// `beige exec -it` on a terminal of the test's.
class Terminal {
 public:
  Terminal() {
    int master = -1;
    int slave = -1;
    winsize size{};
    size.ws_col = 100;
    size.ws_row = 40;
    if (::openpty(&master, &slave, nullptr, nullptr, &size) != 0) std::abort();
    ::fcntl(master, F_SETFD, FD_CLOEXEC);
    ::fcntl(slave, F_SETFD, FD_CLOEXEC);
    master_.Reset(master);
    slave_.Reset(slave);
  }
  pid_t Start(const std::vector<std::string>& argv) {
    SpawnRequest request;
    request.argv = argv;
    request.environment = CurrentEnvironment();
    request.fds = {{slave_.get(), 0}, {slave_.get(), 1}, {slave_.get(), 2}};
    request.new_session = true;
    return Spawn(request).value_or(0);
  }
  bool Raw() const {
    termios mode{};
    ::tcgetattr(slave_.get(), &mode);
    return (mode.c_lflag & (ICANON | ECHO | ISIG)) == 0;
  }
  void Resize(unsigned short columns, unsigned short rows) {
    winsize size{};
    size.ws_col = columns;
    size.ws_row = rows;
    ::ioctl(master_.get(), TIOCSWINSZ, &size);
  }
  void Type(std::string_view text) { static_cast<void>(::write(master_.get(), text.data(), text.size()) > 0); }

 private:
  UniqueFd master_;
  UniqueFd slave_;
};

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
    ASSERT_EQ(::waitpid(pid, &status, 0), pid.load());
  }
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_TRUE(raw_inside);
  EXPECT_FALSE(terminal.Raw());
  EXPECT_EQ(typed, "\x03\x04");
  EXPECT_EQ(size, (v2::TerminalSize{100, 40}));
  EXPECT_EQ(resized, (v2::TerminalSize{120, 50}));
}

}  // namespace
}  // namespace beige::testing
