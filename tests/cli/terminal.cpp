#include "terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/spawn.h"

namespace beige::testing {

Terminal::Terminal() {
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

Terminal::~Terminal() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  static_cast<void>(Wait());
}

pid_t Terminal::Start(const std::vector<std::string>& argv, std::vector<std::string> extra_env, bool controlling) {
  SpawnRequest request;
  request.argv = argv;
  if (controlling) request.argv.insert(request.argv.begin(), {"/usr/bin/setsid", "-c"});
  request.environment = std::move(extra_env);
  for (auto& entry : CurrentEnvironment()) request.environment.push_back(std::move(entry));
  request.fds = {{slave_.get(), 0}, {slave_.get(), 1}, {slave_.get(), 2}};
  request.new_session = !controlling;
  pid_ = Spawn(request).value_or(0);
  return pid_;
}

bool Terminal::AwaitKeys() const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (termios mode{}; std::chrono::steady_clock::now() < deadline; std::this_thread::sleep_for(std::chrono::milliseconds(2))) {
    if (::tcgetattr(slave_.get(), &mode) == 0 && (mode.c_lflag & ICANON) == 0) return true;
  }
  return false;
}

bool Terminal::Raw() const {
  termios mode{};
  ::tcgetattr(slave_.get(), &mode);
  return (mode.c_lflag & (ICANON | ECHO | ISIG)) == 0;
}

bool Terminal::Echoes() const {
  termios mode{};
  ::tcgetattr(slave_.get(), &mode);
  return (mode.c_lflag & ECHO) != 0;
}

void Terminal::Resize(unsigned short columns, unsigned short rows) {
  winsize size{};
  size.ws_col = columns;
  size.ws_row = rows;
  ::ioctl(master_.get(), TIOCSWINSZ, &size);
}

void Terminal::Type(std::string_view text) { static_cast<void>(::write(master_.get(), text.data(), text.size()) > 0); }

bool Terminal::Await(std::string_view text, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    if (const size_t at = output_.find(text, seen_); at != std::string::npos) {
      seen_ = at + text.size();
      return true;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd entry{master_.get(), POLLIN, 0};
    if (left <= 0 || ::poll(&entry, 1, static_cast<int>(left)) <= 0) return false;
    char chunk[4096];
    const ssize_t n = ::read(master_.get(), chunk, sizeof chunk);
    if (n <= 0) return false;
    output_.append(chunk, static_cast<size_t>(n));
  }
}

int Terminal::Wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace beige::testing
