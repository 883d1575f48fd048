#include "operator/queue/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>
#include <vector>

namespace beige {
namespace {
using std::chrono::milliseconds;
using std::chrono::seconds;

const AgentKey kA{"default", "a"};
const AgentKey kB{"default", "b"};

TEST(WorkQueueTest, AKeyAddedManyTimesIsGivenOutOnce) {
  ManualClock clock;
  WorkQueue queue(clock, {});
  for (int i = 0; i < 5; ++i) queue.Add(kA);
  queue.Add(kB);
  EXPECT_EQ(queue.depth(), 2u);
  EXPECT_EQ(queue.TryGet(), kA);
  EXPECT_EQ(queue.TryGet(), kB);
  EXPECT_EQ(queue.TryGet(), std::nullopt);
}

TEST(WorkQueueTest, AKeyBeingWorkedOnIsGivenOutAgainOnlyAfterDone) {
  ManualClock clock;
  WorkQueue queue(clock, {});
  queue.Add(kA);
  ASSERT_EQ(queue.TryGet(), kA);
  queue.Add(kA);
  queue.Add(kA);
  EXPECT_EQ(queue.TryGet(), std::nullopt);
  queue.Done(kA);
  EXPECT_EQ(queue.TryGet(), kA);
  queue.Done(kA);
  EXPECT_EQ(queue.TryGet(), std::nullopt);
}

TEST(WorkQueueTest, OfSeveralDelaysTheEarliestCounts) {
  ManualClock clock;
  WorkQueue queue(clock, {});
  queue.AddAfter(kA, seconds(10));
  queue.AddAfter(kA, seconds(1));
  queue.AddAfter(kA, seconds(5));
  clock.Advance(milliseconds(999));
  EXPECT_EQ(queue.TryGet(), std::nullopt);
  clock.Advance(milliseconds(1));
  EXPECT_EQ(queue.TryGet(), kA);
  queue.Done(kA);
  clock.Advance(seconds(60));
  EXPECT_EQ(queue.TryGet(), std::nullopt);
}

TEST(WorkQueueTest, BackoffDoublesToItsCapWithinTheJitterAndForgetStartsAnew) {
  ManualClock clock;
  WorkQueue queue(clock, {milliseconds(100), milliseconds(1000), 7});
  for (const int want : {100, 200, 400, 800, 1000, 1000}) {
    const auto delay = queue.AddRateLimited(kA);
    EXPECT_GE(delay, milliseconds(want * 8 / 10));
    EXPECT_LE(delay, milliseconds(want * 12 / 10));
  }
  EXPECT_EQ(queue.retries(), 6u);
  queue.Forget(kA);
  EXPECT_LE(queue.AddRateLimited(kA), milliseconds(120));
  EXPECT_LE(queue.AddRateLimited(kB), milliseconds(120)) << "another key has a backoff of its own";
}

TEST(WorkQueueTest, BackoffStaysAtTheCapAfterVeryManyFailures) {
  ManualClock clock;
  WorkQueue queue(clock, {milliseconds(200), milliseconds(30000), 7});
  std::chrono::nanoseconds delay{};
  for (int i = 0; i < 200; ++i) delay = queue.AddRateLimited(kA);
  EXPECT_GE(delay, milliseconds(24000));
  EXPECT_LE(delay, milliseconds(36000));
}

TEST(WorkQueueTest, ShutDownWakesWhoWaits) {
  RealClock clock;
  WorkQueue queue(clock, {});
  std::thread waiter([&] { EXPECT_EQ(queue.Get(), std::nullopt); });
  queue.ShutDown();
  waiter.join();
  queue.Add(kA);
  EXPECT_EQ(queue.Get(), std::nullopt);
}

TEST(WorkQueueTest, AnEarlierTimeWakesAWaiterThatSleepsForALaterOne) {
  RealClock clock;
  WorkQueue queue(clock, {});
  queue.AddAfter(kB, std::chrono::hours(1));
  std::thread waiter([&] { EXPECT_EQ(queue.Get(), kA); });
  queue.AddAfter(kA, milliseconds(5));
  waiter.join();
}

TEST(WorkQueueTest, ManyWorkersNeverHaveTheSameKeyAndLoseNone) {
  RealClock clock;
  WorkQueue queue(clock, {milliseconds(1), milliseconds(2), 3});
  std::vector<AgentKey> keys;
  for (int i = 0; i < 20; ++i) keys.push_back({"default", "a" + std::to_string(i)});
  std::map<AgentKey, std::atomic<int>> working;
  std::map<AgentKey, std::atomic<int>> last_seen;
  std::map<AgentKey, std::atomic<int>> wanted;
  for (const AgentKey& key : keys) working[key] = last_seen[key] = wanted[key] = 0;
  std::atomic<int> overlaps{0};
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&] {
      while (const auto key = queue.Get()) {
        if (working[*key].fetch_add(1) != 0) ++overlaps;
        last_seen[*key] = wanted[*key].load();
        if (last_seen[*key] % 7 == 3) queue.AddRateLimited(*key);
        --working[*key];
        queue.Done(*key);
      }
    });
  }
  for (int round = 1; round <= 200; ++round) {
    for (const AgentKey& key : keys) {
      wanted[key] = round;
      queue.Add(key);
    }
  }
  const auto deadline = std::chrono::steady_clock::now() + seconds(20);
  const auto all_seen = [&] {
    for (const AgentKey& key : keys) {
      if (last_seen[key] != 200) return false;
    }
    return true;
  };
  while (!all_seen() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_TRUE(all_seen());
  queue.ShutDown();
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(overlaps, 0);
}

}  // namespace
}  // namespace beige
