#include "api/paths.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "api/condition.h"
#include "base/unix_socket.h"

namespace beige {
namespace {

TEST(HomePathsTest, SocketsAreShortWhateverTheAgentIsCalled) {
  const HomePaths home("/home/somebody/.beige");
  const std::string uid = "6f9619ff-8b86-4011-b42d-00cf4fc964ff";
  EXPECT_EQ(HomePaths::Id(uid).size(), 10u);
  EXPECT_LE(home.GatewaySocket(uid).size(), home.home().size() + 32);
  EXPECT_TRUE(CheckSocketPath(home.GatewaySocket(uid)));
  EXPECT_NE(HomePaths::Id(uid), HomePaths::Id("6f9619ff-8b86-4011-b42d-00cf4fc964fe"));
}

TEST(HomePathsTest, TwoAgentsNeverShareAPath) {
  const HomePaths home("/h");
  std::set<std::string> seen;
  for (const AgentKey& key : {AgentKey{"a-b", "c"}, AgentKey{"a", "b-c"}, AgentKey{"c", "a-b"}, AgentKey{"default", "c"}}) {
    seen.insert(home.Workspace(key));
    seen.insert(home.StatusFile(key));
  }
  EXPECT_EQ(seen.size(), 8u);
}

TEST(DefaultHomeTest, IsBeigeHomeElseBeneathTheUsersHome) {
  ::setenv("BEIGE_HOME", "/x/../y/", 1);
  EXPECT_EQ(DefaultHome(), "/y");
  ::setenv("BEIGE_HOME", "", 1);
  ::setenv("HOME", "/home/u", 1);
  EXPECT_EQ(DefaultHome(), "/home/u/.beige");
  ::unsetenv("BEIGE_HOME");
  ::unsetenv("HOME");
  EXPECT_TRUE(DefaultHome().starts_with("/"));
}

TEST(ConditionTest, IsFoundByType) {
  const std::vector<Condition> conditions = {{"Accepted", Truth::kTrue, "", "", "", 0}, {"Ready", Truth::kFalse, "X", "", "", 0}};
  ASSERT_NE(FindCondition(conditions, "Ready"), nullptr);
  EXPECT_EQ(FindCondition(conditions, "Ready")->reason, "X");
  EXPECT_EQ(FindCondition(conditions, "ready"), nullptr);
}

}  // namespace
}  // namespace beige
