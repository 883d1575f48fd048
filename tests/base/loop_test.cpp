#include "base/loop.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace beige {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Pair {
  UniqueFd ours, theirs;
  Pair() {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0) {
      ours.Reset(fds[0]);
      theirs.Reset(fds[1]);
    }
  }
};

// Steps the loop until `done`; false after ten seconds.
bool StepUntil(Loop& loop, const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + seconds(10);
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    loop.RunOnce(milliseconds(100));
  }
  return true;
}

TEST(LoopTest, RunsPostedFunctionsInOrderFromEveryThread) {
  Loop loop;
  std::vector<int> seen;
  std::thread poster([&] {
    for (int i = 0; i < 1000; ++i) loop.Post([&seen, i] { seen.push_back(i); });
    loop.Post([&loop] { loop.Stop(); });
  });
  loop.Run();
  poster.join();
  ASSERT_EQ(seen.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
}

TEST(LoopTest, RunOnceSaysWhetherAnythingRan) {
  Loop loop;
  EXPECT_FALSE(loop.RunOnce(milliseconds(1)));
  bool ran = false;
  loop.Post([&] { ran = true; });
  EXPECT_TRUE(loop.RunOnce(milliseconds(1)));
  EXPECT_TRUE(ran);
}

TEST(LoopTest, DeliversSignals) {
  Loop loop;
  std::vector<int> seen;
  loop.OnSignal({SIGUSR1, SIGUSR2}, [&](int number) { seen.push_back(number); });
  ::raise(SIGUSR1);
  ASSERT_TRUE(StepUntil(loop, [&] { return seen.size() == 1; }));
  ::raise(SIGUSR2);
  ASSERT_TRUE(StepUntil(loop, [&] { return seen.size() == 2; }));
  EXPECT_EQ(seen, (std::vector<int>{SIGUSR1, SIGUSR2}));
}

TEST(TimerTest, FiresOnceAndNotAfterCancelOrRestart) {
  Loop loop;
  Timer timer(loop);
  int first = 0;
  int second = 0;
  timer.Start(milliseconds(1), [&] { ++first; });
  timer.Start(milliseconds(2), [&] { ++second; });
  ASSERT_TRUE(StepUntil(loop, [&] { return second == 1; }));
  EXPECT_EQ(first, 0);
  timer.Start(milliseconds(1), [&] { ++first; });
  timer.Cancel();
  loop.RunOnce(milliseconds(20));
  loop.RunOnce(milliseconds(20));
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST(TimerTest, RepeatsUntilItsCallbackDestroysIt) {
  Loop loop;
  auto timer = std::make_unique<Timer>(loop);
  int ticks = 0;
  timer->StartEvery(milliseconds(1), [&] {
    if (++ticks == 3) timer.reset();
  });
  ASSERT_TRUE(StepUntil(loop, [&] { return timer == nullptr; }));
  loop.RunOnce(milliseconds(10));
  EXPECT_EQ(ticks, 3);
}

TEST(TimerTest, AnElapsedTimerThatIsCancelledInTheSameTurnStaysSilent) {
  Loop loop;
  Timer a(loop);
  Timer b(loop);
  int fired = 0;
  // Both are due when the loop looks; whoever comes first silences the other.
  a.Start(milliseconds(0), [&] { ++fired, b.Cancel(); });
  b.Start(milliseconds(0), [&] { ++fired, a.Cancel(); });
  ASSERT_TRUE(StepUntil(loop, [&] { return fired > 0; }));
  loop.RunOnce(milliseconds(10));
  EXPECT_EQ(fired, 1);
}

TEST(FdWatchTest, CallsAgainWhileBytesAreLeft) {
  Loop loop;
  Pair pair;
  FdWatch watch(loop, pair.ours.get());
  std::string got;
  watch.OnReadable([&] {
    char byte;
    if (::read(pair.ours.get(), &byte, 1) == 1) got += byte;
  });
  ASSERT_EQ(::write(pair.theirs.get(), "abc", 3), 3);
  ASSERT_TRUE(StepUntil(loop, [&] { return got == "abc"; }));
}

TEST(FdWatchTest, ReportsEndOfFile) {
  Loop loop;
  Pair pair;
  FdWatch watch(loop, pair.ours.get());
  bool ended = false;
  watch.OnReadable([&] {
    char byte;
    ended = ::read(pair.ours.get(), &byte, 1) == 0;
    if (ended) watch.OnReadable(nullptr);
  });
  pair.theirs.Reset();
  ASSERT_TRUE(StepUntil(loop, [&] { return ended; }));
  EXPECT_FALSE(loop.RunOnce(milliseconds(5)));
}

TEST(FdWatchTest, StaysSilentWhileThereIsNoCallbackAndLosesNothing) {
  Loop loop;
  Pair pair;
  FdWatch watch(loop, pair.ours.get());
  int calls = 0;
  const auto count = [&] {
    ++calls;
    watch.OnReadable(nullptr);
  };
  watch.OnReadable(count);
  ASSERT_EQ(::write(pair.theirs.get(), "a", 1), 1);
  ASSERT_TRUE(StepUntil(loop, [&] { return calls == 1; }));
  loop.RunOnce(milliseconds(5));
  EXPECT_EQ(calls, 1);
  watch.OnReadable(count);  // the byte is still there
  ASSERT_TRUE(StepUntil(loop, [&] { return calls == 2; }));
}

TEST(FdWatchTest, ACallbackMayReplaceItself) {
  Loop loop;
  Pair pair;
  FdWatch watch(loop, pair.ours.get());
  bool second = false;
  watch.OnReadable([&] { watch.OnReadable([&] { second = true, watch.OnReadable(nullptr); }); });
  ASSERT_EQ(::write(pair.theirs.get(), "a", 1), 1);
  ASSERT_TRUE(StepUntil(loop, [&] { return second; }));
}

TEST(FdWatchTest, ACallbackMayDestroyTheWatchAndCloseTheDescriptor) {
  Loop loop;
  Pair pair;
  auto watch = std::make_unique<FdWatch>(loop, pair.ours.get());
  int calls = 0;
  watch->OnReadable([&] {
    ++calls;
    watch.reset();
    pair.ours.Reset();
  });
  watch->OnWritable([&] {
    if (watch) watch->OnWritable(nullptr);
  });
  ASSERT_EQ(::write(pair.theirs.get(), "abc", 3), 3);
  ASSERT_TRUE(StepUntil(loop, [&] { return calls == 1; }));
  loop.RunOnce(milliseconds(5));
  EXPECT_EQ(calls, 1);
}

TEST(FdWatchTest, LeavesTheDescriptorOpenForItsOwner) {
  Loop loop;
  Pair pair;
  {
    FdWatch watch(loop, pair.ours.get());
    watch.OnReadable([] {});
  }
  EXPECT_EQ(::write(pair.ours.get(), "a", 1), 1);
  FdWatch again(loop, pair.ours.get());  // and it can be watched a second time
  bool writable = false;
  again.OnWritable([&] { writable = true, again.OnWritable(nullptr); });
  ASSERT_TRUE(StepUntil(loop, [&] { return writable; }));
}

TEST(FdWatchTest, SpeaksOfWritabilityOnlyWhenThereIsRoom) {
  Loop loop;
  Pair pair;
  const std::string block(65536, 'x');
  while (::write(pair.ours.get(), block.data(), block.size()) > 0) {
  }
  FdWatch watch(loop, pair.ours.get());
  bool writable = false;
  watch.OnWritable([&] { writable = true, watch.OnWritable(nullptr); });
  loop.RunOnce(milliseconds(5));
  EXPECT_FALSE(writable);
  std::string sink(1 << 20, 0);
  while (::read(pair.theirs.get(), sink.data(), sink.size()) > 0) {
  }
  ASSERT_TRUE(StepUntil(loop, [&] { return writable; }));
}

}  // namespace
}  // namespace beige
