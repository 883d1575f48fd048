#include "program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/spawn.h"

namespace beige::testing {
namespace {
using std::chrono::milliseconds;

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    read.Reset(ends[0]);
    write.Reset(ends[1]);
  }
  UniqueFd read;
  UniqueFd write;
};
}  // namespace

std::string BeigeProgram() { return BEIGE_CLI_PROGRAM; }

Program::Program(std::vector<std::string> argv, std::vector<std::string> extra_env, std::vector<int> keep) {
  Pipe in;
  Pipe out;
  Pipe err;
  SpawnRequest request;
  request.argv = std::move(argv);
  request.environment = std::move(extra_env);
  for (auto& entry : CurrentEnvironment()) request.environment.push_back(std::move(entry));
  request.fds = {{in.read.get(), 0}, {out.write.get(), 1}, {err.write.get(), 2}};
  for (const int fd : keep) request.fds.emplace_back(fd, fd);
  auto pid = Spawn(request);
  if (!pid) std::abort();
  pid_ = *pid;
  in_ = std::move(in.write);
  out_ = std::move(out.read);
  err_ = std::move(err.read);
}

Program::~Program() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Program::Write(std::string_view input) {
  ::signal(SIGPIPE, SIG_IGN);
  while (!input.empty()) {
    const ssize_t n = ::write(in_.get(), input.data(), input.size());
    if (n < 0) return;
    input.remove_prefix(static_cast<size_t>(n));
  }
}

void Program::Signal(int signal) { ::kill(pid_, signal); }

bool Program::Pump(milliseconds limit, const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  char chunk[65536];
  while (!done()) {
    if (!out_ && !err_) return false;
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd entries[2] = {{out_ ? out_.get() : -1, POLLIN, 0}, {err_ ? err_.get() : -1, POLLIN, 0}};
    ::poll(entries, 2, static_cast<int>(left));
    for (int i = 0; i < 2; ++i) {
      if (entries[i].revents == 0) continue;
      UniqueFd& fd = i == 0 ? out_ : err_;
      const ssize_t n = ::read(fd.get(), chunk, sizeof chunk);
      if (n <= 0) {
        fd.Reset();
      } else {
        (i == 0 ? outcome_.out : outcome_.err).append(chunk, static_cast<size_t>(n));
      }
    }
  }
  return true;
}

bool Program::AwaitOutput(std::string_view text, milliseconds limit) {
  return Pump(limit, [&] { return outcome_.out.find(text) != std::string::npos; });
}

Outcome Program::Finish(milliseconds limit) {
  CloseInput();
  Pump(limit, [&] { return !out_ && !err_; });
  if (out_ || err_) {
    ::kill(pid_, SIGKILL);
    outcome_.err += "\n[killed by the test after its limit]";
  }
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  outcome_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome_;
}

Outcome RunBeige(std::vector<std::string> arguments, std::string_view input) {
  arguments.insert(arguments.begin(), BeigeProgram());
  Program program(std::move(arguments));
  program.Write(input);
  return program.Finish();
}

bool Eventually(const std::function<bool()>& done, milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::poll(nullptr, 0, 10);
  }
  return true;
}

}  // namespace beige::testing
