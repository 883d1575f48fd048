#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "operator/reconcile/disk_policy.h"
#include "operator/reconcile/disk_watch.h"
#include "tests/operator/temp_dir.h"

namespace beige {
namespace {
constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kLeast = 64 * kMiB;

std::map<std::string, DiskUse> Uses(int64_t a, int64_t b, int64_t c = 0) { return {{"a", {a * kMiB, 0}}, {"b", {b * kMiB, 0}}, {"c", {c * kMiB, 0}}}; }
std::string Uid(const std::optional<DiskPolicy::Stop>& stop) { return stop ? stop->uid : ""; }

TEST(DiskPolicyTest, StopsTheOneThatGrewMostAndNotTheLargest) {
  DiskPolicy policy;
  EXPECT_EQ(Uid(policy.Look(100 * kMiB, kLeast, Uses(10, 5000, 1))), "") << "short, but enough";
  EXPECT_EQ(Uid(policy.Look(60 * kMiB, kLeast, Uses(40, 5005, 1))), "a");
}

TEST(DiskPolicyTest, TheOthersGoOnUntilOneOfThemGrowsByItself) {
  DiskPolicy policy;
  (void)policy.Look(100 * kMiB, kLeast, Uses(10, 10, 10));
  EXPECT_EQ(Uid(policy.Look(10 * kMiB, kLeast, Uses(80, 20, 30))), "a");
  EXPECT_EQ(Uid(policy.Look(10 * kMiB, kLeast, Uses(80, 20, 30))), "") << "what c wrote before does not count again";
  EXPECT_EQ(Uid(policy.Look(9 * kMiB, kLeast, Uses(80, 20, 31))), "") << "a little is nobody's fault";
  EXPECT_EQ(Uid(policy.Look(6 * kMiB, kLeast, Uses(80, 20, 34))), "c");
}

TEST(DiskPolicyTest, ADiskThatIsFullAtTheFirstLookIsLaidToWhoWroteLately) {
  DiskPolicy policy;
  EXPECT_EQ(Uid(policy.Look(0, kLeast, {{"old", {900 * kMiB, 0}}, {"new", {50 * kMiB, 40 * kMiB}}})), "new");
}

TEST(DiskPolicyTest, ADiskThatSomethingElseFillsStopsNobody) {
  DiskPolicy policy;
  EXPECT_EQ(Uid(policy.Look(0, kLeast, Uses(10, 10))), "");
  EXPECT_EQ(Uid(policy.Look(0, kLeast, Uses(10, 10))), "");
  EXPECT_EQ(Uid(policy.Look(0, kLeast, {})), "");
}

TEST(DiskPolicyTest, WhoComesLaterIsNotBlamedForWhatItHadBefore) {
  DiskPolicy policy;
  (void)policy.Look(100 * kMiB, kLeast, {{"a", {10 * kMiB, 0}}});
  EXPECT_EQ(Uid(policy.Look(50 * kMiB, kLeast, {{"a", {20 * kMiB, 0}}, {"late", {5000 * kMiB, 0}}})), "a");
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
  const DiskUse use = MeasureTree(dir.path(), now - std::chrono::minutes(1));
  EXPECT_GE(use.bytes, kMiB);
  EXPECT_LT(use.bytes, 2 * kMiB);
  EXPECT_EQ(use.recent, use.bytes);
  // A file can't be made to look old: utimes sets mtime, and ctime to now.
  const timespec then[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (dir / "a/b/file").c_str(), then, 0), 0);
  EXPECT_EQ(MeasureTree(dir.path(), now - std::chrono::minutes(1)).recent, use.bytes);
  EXPECT_EQ(MeasureTree(dir.path(), now + std::chrono::minutes(1)).recent, 0);
  EXPECT_EQ(MeasureTree(dir / "link", now).bytes, 0);
  EXPECT_EQ(MeasureTree(dir / "absent", now).bytes, 0);
}

}  // namespace
}  // namespace beige
