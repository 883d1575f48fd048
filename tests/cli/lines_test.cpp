#include "cli/lines.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>

#include "base/files.h"
#include "home.h"

namespace beige::cli {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LinesTest : public ::testing::Test {
 protected:
  ~LinesTest() override { static_cast<void>(RemoveTree(directory_)); }
  void Append(const std::string& name, const std::string& text) { std::ofstream(directory_ + "/" + name, std::ios::app) << text; }
  std::string File(const std::string& name) const { return directory_ + "/" + name; }

  const std::string directory_ = beige::testing::TemporaryDirectory();
};

const LineFilter kAll = [](const std::string&) { return true; };

TEST_F(LinesTest, TailGivesTheLastWholeLinesAcrossFiles) {
  Append("old", "1\n2\n3\n");
  Append("new", "4\n5\nhalf a li");
  EXPECT_THAT(TailLines({File("old"), File("absent"), File("new")}, 3, kAll), ElementsAre("3", "4", "5"));
  EXPECT_THAT(TailLines({File("new")}, 10, kAll), ElementsAre("4", "5"));
  EXPECT_THAT(TailLines({File("new")}, 0, kAll), IsEmpty());
}

TEST_F(LinesTest, TailFindsLinesThatCrossBlocks) {
  const std::string long_line(150000, 'x');
  Append("f", "first\n" + long_line + "\nlast\n");
  EXPECT_THAT(TailLines({File("f")}, 10, kAll), ElementsAre("first", long_line, "last"));
  EXPECT_THAT(TailLines({File("f")}, 1, [](const std::string& line) { return line.starts_with("f"); }), ElementsAre("first"));
}

TEST_F(LinesTest, FollowerKeepsUpAcrossRotation) {
  Append("f", "seen\n");
  off_t end = 0;
  TailLines({File("f")}, 10, kAll, &end);
  LineFollower follower(File("f"), end);
  EXPECT_THAT(follower.Read(), IsEmpty());
  Append("f", "a\nb");
  EXPECT_THAT(follower.Read(), ElementsAre("a"));
  Append("f", "c\nlate\n");
  ASSERT_EQ(std::rename(File("f").c_str(), File("f.1").c_str()), 0);
  Append("f", "new\n");
  EXPECT_THAT(follower.Read(), ElementsAre("bc", "late", "new"));
}

TEST_F(LinesTest, FollowerWaitsForAFileThatIsNotThereYet) {
  LineFollower follower(File("f"), 0);
  EXPECT_THAT(follower.Read(), IsEmpty());
  Append("f", "a\n");
  EXPECT_THAT(follower.Read(), ElementsAre("a"));
}

}  // namespace
}  // namespace beige::cli
