#include "base/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

namespace beige {
namespace {

struct Pipe {
  UniqueFd read, write;
  Pipe() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) == 0) {
      read.Reset(fds[0]);
      write.Reset(fds[1]);
    }
  }
  std::string All() {
    write.Reset();
    std::string out;
    char chunk[4096];
    for (ssize_t n; (n = ::read(read.get(), chunk, sizeof chunk)) > 0;) out.append(chunk, static_cast<size_t>(n));
    return out;
  }
};

SpawnRequest Request(std::vector<std::string> argv, std::vector<std::string> environment = {"PATH=/usr/bin:/bin"}) {
  SpawnRequest request;
  request.argv = std::move(argv);
  request.environment = std::move(environment);
  return request;
}

std::string OutputOf(SpawnRequest request) {
  Pipe pipe;
  request.fds.emplace_back(pipe.write.get(), 1);
  const auto pid = Spawn(request);
  if (!pid) return "not started: " + pid.error().message;
  std::string out = pipe.All();
  int status = 0;
  ::waitpid(*pid, &status, 0);
  return out;
}

TEST(SpawnTest, GivesExactlyTheEnvironmentThatWasAsked) {
  EXPECT_EQ(OutputOf(Request({"/usr/bin/env"}, {"A=1", "B=x y"})), "A=1\nB=x y\n");
}

TEST(SpawnTest, ClosesEveryDescriptorThatIsNotNamed) {
  UniqueFd ours(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  UniqueFd inherited(::open("/dev/null", O_RDONLY));  // as if our parent had left it open
  // 3 is the directory that ls reads.
  EXPECT_EQ(OutputOf(Request({"ls", "/proc/self/fd"})), "0\n1\n2\n3\n");
  SpawnRequest request = Request({"ls", "/proc/self/fd"});
  request.fds = {{ours.get(), 7}};
  EXPECT_EQ(OutputOf(request), "0\n1\n2\n3\n7\n");
}

TEST(SpawnTest, SwapsDescriptorsWhoseNumbersOverlap) {
  Pipe a;
  Pipe b;
  ASSERT_EQ(::write(a.write.get(), "from a", 6), 6);
  ASSERT_EQ(::write(b.write.get(), "from b", 6), 6);
  a.write.Reset();
  b.write.Reset();
  // Each takes the number of the other.
  const std::string script = "cat <&" + std::to_string(b.read.get()) + "; echo; cat <&" + std::to_string(a.read.get());
  SpawnRequest request = Request({"/bin/bash", "-c", script});
  request.fds = {{a.read.get(), b.read.get()}, {b.read.get(), a.read.get()}};
  EXPECT_EQ(OutputOf(request), "from a\nfrom b");
}

TEST(SpawnTest, StartsWithNoSignalBlockedOrIgnored) {
  sigset_t usr1;
  sigset_t before;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &usr1, &before);
  ::signal(SIGPIPE, SIG_IGN);
  const std::string out = OutputOf(Request({"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}));
  ::signal(SIGPIPE, SIG_DFL);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(out.starts_with("SigBlk:\t0000000000000000\nSigIgn:\t")) << out;
  // 32 and 33 are glibc's own.
  EXPECT_EQ(std::stoull(out.substr(out.rfind('\t')), nullptr, 16) & ~0x180000000ULL, 0u) << out;
}

TEST(SpawnTest, SaysThatAProgramIsNotThere) {
  const auto pid = Spawn(Request({"/nowhere/program"}));
  ASSERT_FALSE(pid);
  EXPECT_EQ(pid.error().code, Code::kNotFound);
  EXPECT_NE(pid.error().message.find("/nowhere/program"), std::string::npos);
  EXPECT_FALSE(Spawn(Request({})));
}

TEST(SpawnTest, PidFdIsReadableWhenTheChildHasEnded) {
  Pipe hold;
  SpawnRequest request = Request({"cat"});
  request.fds = {{hold.read.get(), 0}};
  const auto pid = Spawn(request);
  ASSERT_TRUE(pid);
  const auto pidfd = OpenPidFd(*pid);
  ASSERT_TRUE(pidfd);
  pollfd ready{pidfd->get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ready, 1, 0), 0);
  hold.write.Reset();
  EXPECT_EQ(::poll(&ready, 1, 10000), 1);
  int status = 0;
  EXPECT_EQ(::waitpid(*pid, &status, 0), *pid);
  EXPECT_NE(::fcntl(pidfd->get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(SpawnTest, NewSessionMakesALeader) {
  SpawnRequest request = Request({"/bin/sh", "-c", "read -r _ _ _ _ _ sid _ < /proc/self/stat; [ $sid = $$ ] && echo leader"});
  request.new_session = true;
  const std::string out = OutputOf(request);
  EXPECT_EQ(out, "leader\n");
}

}  // namespace
}  // namespace beige
