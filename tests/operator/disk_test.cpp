#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/unique_fd.h"
#include "operator/reconcile/disk_policy.h"
#include "operator/reconcile/measure.h"
#include "tests/operator/temp_dir.h"

namespace beige {
namespace {
constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kLeast = 64 * kMiB;

DiskUse Of(int64_t total, int64_t recent = 0, bool cut = false) { return {total * kMiB, recent * kMiB, cut}; }
std::map<std::string, DiskUse> Uses(int64_t a, int64_t b, int64_t c = 0) { return {{"a", Of(a)}, {"b", Of(b)}, {"c", Of(c)}}; }
std::string Uid(const std::optional<DiskPolicy::Stop>& stop) { return stop ? stop->uid : ""; }

TEST(DiskPolicyTest, StopsTheOneThatGrewMostAndNotTheLargest) {
  DiskPolicy policy(kMiB);
  EXPECT_EQ(Uid(policy.Look(100 * kMiB, kLeast, Uses(10, 5000, 1))), "") << "short, but enough";
  EXPECT_EQ(Uid(policy.Look(60 * kMiB, kLeast, Uses(40, 5005, 1))), "a");
}

TEST(DiskPolicyTest, TheOthersGoOnUntilOneOfThemGrowsByItself) {
  DiskPolicy policy(kMiB);
  (void)policy.Look(100 * kMiB, kLeast, Uses(10, 10, 10));
  EXPECT_EQ(Uid(policy.Look(10 * kMiB, kLeast, Uses(80, 20, 30))), "a");
  EXPECT_EQ(Uid(policy.Look(10 * kMiB, kLeast, Uses(80, 20, 30))), "") << "what c wrote before does not count again";
  EXPECT_EQ(Uid(policy.Look(9 * kMiB, kLeast, Uses(80, 20, 31))), "") << "a little is nobody's fault";
  EXPECT_EQ(Uid(policy.Look(6 * kMiB, kLeast, Uses(80, 20, 34))), "c");
}

TEST(DiskPolicyTest, ADiskThatIsFullAtTheFirstLookIsLaidToWhoWroteLately) {
  DiskPolicy policy(kMiB);
  EXPECT_EQ(Uid(policy.Look(0, kLeast, {{"old", Of(900)}, {"new", Of(50, 40)}})), "new");
}

TEST(DiskPolicyTest, ADiskThatSomethingElseFillsStopsNobody) {
  DiskPolicy policy(kMiB);
  EXPECT_EQ(Uid(policy.Look(0, kLeast, Uses(10, 10))), "");
  EXPECT_EQ(Uid(policy.Look(0, kLeast, Uses(10, 10))), "");
  EXPECT_EQ(Uid(policy.Look(0, kLeast, {})), "");
}

TEST(DiskPolicyTest, WhoComesLaterIsNotBlamedForWhatItHadBefore) {
  DiskPolicy policy(kMiB);
  (void)policy.Look(100 * kMiB, kLeast, {{"a", Of(10)}});
  EXPECT_EQ(Uid(policy.Look(50 * kMiB, kLeast, {{"a", Of(20)}, {"late", Of(5000)}})), "a");
}

TEST(DiskPolicyTest, WhatWasLostAndNobodyCountedIsLaidToWhoseCountWasCut) {
  DiskPolicy policy(kMiB);
  EXPECT_EQ(Uid(policy.Look(100 * kMiB, kLeast, {{"a", Of(10)}, {"many", Of(50, 0, true)}})), "");
  const auto stop = policy.Look(20 * kMiB, kLeast, {{"a", Of(20)}, {"many", Of(50, 0, true)}});
  ASSERT_EQ(Uid(stop), "many") << "a grew by 10, and 80 are gone";
  EXPECT_EQ(stop->hidden, 70 * kMiB);
}

TEST(DiskPolicyTest, WhatSomebodyWasSeenWritingIsNotLaidToWhoseCountWasCut) {
  DiskPolicy policy(kMiB);
  (void)policy.Look(100 * kMiB, kLeast, {{"a", Of(10)}, {"many", Of(50, 0, true)}});
  EXPECT_EQ(Uid(policy.Look(20 * kMiB, kLeast, {{"a", Of(90)}, {"many", Of(50, 0, true)}})), "a");
  EXPECT_EQ(Uid(policy.Look(20 * kMiB, kLeast, {{"many", Of(50, 0, true)}})), "");
}

TEST(DiskPolicyTest, ADiskThatIsFullAtTheFirstLookIsLaidToWhoseCountWasCutIfNobodyWroteLately) {
  DiskPolicy policy(kMiB);
  policy.Forget(500 * kMiB);
  EXPECT_EQ(Uid(policy.Look(0, kLeast, {{"a", Of(10)}, {"many", Of(50, 0, true)}})), "many");
}

TEST(DiskPolicyTest, AmongSeveralWhoseCountWasCutEachIsStoppedInTurn) {
  DiskPolicy policy(kMiB);
  policy.Forget(500 * kMiB);
  const std::string one = Uid(policy.Look(0, kLeast, {{"a", Of(10)}, {"m", Of(50, 0, true)}, {"n", Of(60, 0, true)}}));
  EXPECT_EQ(one, "m");
  EXPECT_EQ(Uid(policy.Look(0, kLeast, {{"a", Of(10)}, {"n", Of(60, 0, true)}})), "n");
  EXPECT_EQ(Uid(policy.Look(0, kLeast, {{"a", Of(10)}})), "");
}

TEST(MeasureTreeTest, CountsBlocksOfRecentAndOldFilesAndFollowsNoLink) {
  testing::TempDir dir;
  testing::TempDir outside;
  outside.Write("large", std::string(4 * kMiB, 'x'));
  std::filesystem::create_directories(dir / "a/b");
  dir.Write("a/b/file", std::string(kMiB, 'x'));
  std::filesystem::create_directory_symlink(outside.path(), dir / "link");
  ASSERT_EQ(::truncate(dir.Write("sparse", "").c_str(), 1LL << 40), 0);
  const SystemTime now = std::chrono::system_clock::now();
  const TreeUse use = MeasureTree(dir.path(), now - std::chrono::minutes(1));
  EXPECT_GE(use.bytes.total, kMiB);
  EXPECT_LT(use.bytes.total, 2 * kMiB);
  EXPECT_EQ(use.bytes.recent, use.bytes.total);
  EXPECT_EQ(use.files.total, 5) << "a, a/b, a/b/file, link, sparse";
  EXPECT_EQ(use.files.recent, 5);
  EXPECT_FALSE(use.bytes.cut);
  // A file can't be made to look old: utimes sets mtime, and ctime to now.
  const timespec then[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (dir / "a/b/file").c_str(), then, 0), 0);
  EXPECT_EQ(MeasureTree(dir.path(), now - std::chrono::minutes(1)).bytes.recent, use.bytes.total);
  EXPECT_EQ(MeasureTree(dir.path(), now + std::chrono::minutes(1)).bytes.recent, 0);
  EXPECT_EQ(MeasureTree(dir / "link", now).bytes.total, 0);
  EXPECT_EQ(MeasureTree(dir / "absent", now).bytes.total, 0);
}

TEST(MeasureTreeTest, SaysThatItDidNotCountAllBehindManyFilesOrDeepOnes) {
  testing::TempDir dir;
  for (int i = 0; i < 6; ++i) dir.Write("file" + std::to_string(i), "x");
  const SystemTime now = std::chrono::system_clock::now();
  EXPECT_FALSE(MeasureTree(dir.path(), now, {.entries = 6}).bytes.cut);
  const TreeUse many = MeasureTree(dir.path(), now, {.entries = 5});
  EXPECT_TRUE(many.bytes.cut);
  EXPECT_TRUE(many.files.cut);
  std::filesystem::create_directories(dir / "a/b/c");
  EXPECT_FALSE(MeasureTree(dir.path(), now, {.depth = 3}).bytes.cut);
  EXPECT_TRUE(MeasureTree(dir.path(), now, {.depth = 2}).bytes.cut);
}

TEST(MeasureTreeTest, AFileWithManyNamesCountsOnce) {
  testing::TempDir dir;
  const std::string file = dir.Write("file", std::string(kMiB, 'x'));
  for (int i = 0; i < 3; ++i) std::filesystem::create_hard_link(file, dir / ("name" + std::to_string(i)));
  EXPECT_LT(MeasureTree(dir.path(), std::chrono::system_clock::now()).bytes.total, 2 * kMiB);
}

TEST(MeasureHeldTest, AFileWithoutANameIsSeenWhileItIsOpenOrMapped) {
  testing::TempDir dir;
  const SystemTime since = std::chrono::system_clock::now() - std::chrono::minutes(1);
  struct stat home {};
  ASSERT_EQ(::stat(dir.path().c_str(), &home), 0);
  const auto held = [&] { return MeasureHeld({::getpid()}, home.st_dev, since).bytes; };
  const int64_t before = held().total;
  const std::string path = dir.Write("file", std::string(4 * kMiB, 'x'));
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  UniqueFd again(::dup(fd.get()));
  EXPECT_EQ(held().total, before) << "it has a name: the tree shows it";
  ASSERT_EQ(::unlink(path.c_str()), 0);
  EXPECT_EQ(held().total - before, 4 * kMiB) << "once, however often it is open";
  EXPECT_GE(held().recent, 4 * kMiB);
  if (::geteuid() != 0) return;  // what is mapped shows only to root
  void* map = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd.get(), 0);
  ASSERT_NE(map, MAP_FAILED);
  fd.Reset();
  again.Reset();
  EXPECT_EQ(held().total - before, 4 * kMiB);
  ::munmap(map, 4096);
}

TEST(ContainerOfTest, FindsTheIdInWhateverAnEngineCallsItsGroup) {
  const std::string id(64, 'a');
  const std::string outer(64, 'b');
  EXPECT_EQ(ContainerOf("0::/system.slice/docker-" + id + ".scope\n"), id);
  EXPECT_EQ(ContainerOf("12:pids:/docker/" + id + "\n"), id);
  EXPECT_EQ(ContainerOf("0::/docker/" + outer + "/docker/" + id), id);
  EXPECT_EQ(ContainerOf("0::/user.slice/a" + id + ".scope"), "") << "65 digits";
  EXPECT_EQ(ContainerOf("0::/init.scope\n"), "");
}

}  // namespace
}  // namespace beige
