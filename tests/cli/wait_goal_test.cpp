#include <gtest/gtest.h>

#include "cli/wait.h"

namespace beige::cli {
namespace {

TEST(WaitGoalTest, ReadsTheFormsThatKubectlKnows) {
  EXPECT_EQ(ParseWaitGoal("delete").value(), (WaitGoal{true, "", Truth::kTrue}));
  EXPECT_EQ(ParseWaitGoal("condition=Ready").value(), (WaitGoal{false, "Ready", Truth::kTrue}));
  EXPECT_EQ(ParseWaitGoal("condition=ready=false").value(), (WaitGoal{false, "Ready", Truth::kFalse}));
  EXPECT_EQ(ParseWaitGoal("condition=UpToDate=Unknown").value(), (WaitGoal{false, "UpToDate", Truth::kUnknown}));
}

TEST(WaitGoalTest, NamesTheValueAndWhatWasWanted) {
  for (const char* text : {"", "Ready", "condition=", "condition=Redy", "condition=Ready=yes", "jsonpath=.status"}) {
    const auto goal = ParseWaitGoal(text);
    ASSERT_FALSE(goal) << text;
    EXPECT_EQ(goal.error().code, Code::kInvalid);
    EXPECT_NE(goal.error().message.find("--for: want "), std::string::npos) << goal.error().message;
    EXPECT_NE(goal.error().message.find("\"" + std::string(text) + "\""), std::string::npos) << goal.error().message;
  }
}

AgentView View(Truth ready, bool observed) {
  AgentView view;
  view.agent.metadata.name = "a1";
  view.agent.status.conditions = {{"Ready", ready, "CrashLoopBackOff", "exited with 1", "", 1}};
  view.definition = Definition{"/h/agents.d/a.yaml", 1, view.agent, {}};
  view.has_status = true;
  view.observed = observed;
  return view;
}

TEST(WaitJudgeTest, ReadyIsMetOnlyByAStatusOfTheLatestSpec) {
  const WaitGoal goal{false, "Ready", Truth::kTrue};
  EXPECT_TRUE(Judge(goal, View(Truth::kTrue, true)).met);
  EXPECT_FALSE(Judge(goal, View(Truth::kTrue, false)).met);
  EXPECT_EQ(Judge(goal, View(Truth::kFalse, true)).why, "Ready is False, CrashLoopBackOff: exited with 1");
  EXPECT_FALSE(Judge(goal, std::nullopt).met);
}

TEST(WaitJudgeTest, DeletionIsMetWhenFileAndStatusAreGone) {
  const WaitGoal goal{true, "", Truth::kTrue};
  EXPECT_TRUE(Judge(goal, std::nullopt).met);
  AgentView view = View(Truth::kTrue, true);
  EXPECT_NE(Judge(goal, view).why.find("/h/agents.d/a.yaml"), std::string::npos);
  view.definition.reset();
  EXPECT_FALSE(Judge(goal, view).met);
}

}  // namespace
}  // namespace beige::cli
