#include <gmock/gmock.h>

#include "home.h"

namespace beige::testing {
namespace {
using ::testing::HasSubstr;

TEST(WaitTest, EndsWhenTheOperatorWritesTheStatus) {
  const Home home;
  home.Write("agents.d/a.yaml", AgentText("a1"));
  Program wait(home.Command({"wait", "agent", "a1", "--for=condition=Ready", "--timeout=30s"}));
  home.WriteStatus(ReadyAgent("a1", Truth::kFalse, "ImagePullFailed"));
  home.WriteStatus(ReadyAgent("a1"));
  const Outcome outcome = wait.Finish();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "agent.beige.dev/a1 condition met\n");
}

TEST(WaitTest, AStatusOfTheFormerSpecIsNotEnough) {
  const Home home;
  home.WriteStatus(ReadyAgent("a1"));
  home.Write("agents.d/a.yaml", AgentText("a1", "  description: New\n"));
  const Outcome stale = home.Beige({"wait", "agent", "a1", "--timeout=50ms"});
  EXPECT_EQ(stale.status, 124);
  EXPECT_THAT(stale.err, HasSubstr("has not taken up its latest version yet"));
  Agent current = ReadyAgent("a1");
  current.spec.description = "New";
  home.WriteStatus(current);
  EXPECT_EQ(home.Beige({"wait", "agent", "a1", "--timeout=50ms"}).status, 0);
}

TEST(WaitTest, TimesOutWithTheLatestReason) {
  const Home home;
  home.Write("agents.d/a.yaml", AgentText("a1"));
  home.WriteStatus(ReadyAgent("a1", Truth::kFalse, "ImagePullFailed"));
  const Outcome outcome = home.Beige({"wait", "agent", "a1", "--for=condition=Ready", "--timeout=50ms"});
  EXPECT_EQ(outcome.status, 124);
  EXPECT_EQ(outcome.err,
            "beige: wait: agent.beige.dev/a1 is not Ready after 50ms: Ready is False, ImagePullFailed: seen from inside; the operator is not running, start it with 'beige up'\n");
  EXPECT_EQ(home.Beige({"wait", "agent", "a1", "--for=condition=Ready=False", "--timeout=50ms"}).status, 0);
}

TEST(WaitTest, DeletionEndsWhenTheStatusFileGoes) {
  const Home home;
  home.WriteStatus(ReadyAgent("a1"));
  Program wait(home.Command({"wait", "agent", "a1", "--for=delete", "--timeout=30s"}));
  ASSERT_EQ(::unlink(home.paths().StatusFile({"default", "a1"}).c_str()), 0);
  EXPECT_EQ(wait.Finish().status, 0);
  EXPECT_EQ(home.Beige({"wait", "agent", "never", "--for=delete"}).status, 0);
}

TEST(WaitTest, UnknownAgentAndBadWordsEndAtOnce) {
  const Home home;
  EXPECT_EQ(home.Beige({"wait", "agent", "a1"}).status, 3);
  EXPECT_EQ(home.Beige({"wait", "agent", "a1", "--for=condition=Redy"}).status, 2);
  EXPECT_EQ(home.Beige({"wait", "agent", "a1", "--timeout=soon"}).status, 2);
}

}  // namespace
}  // namespace beige::testing
