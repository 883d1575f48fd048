#include "gateway/llm/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beige::llm {
namespace {
using std::chrono::seconds;
using ::testing::HasSubstr;
const ModelName kA{"p", "a"}, kB{"p", "b/c:1"}, kC{"q", "c"};

LlmConfig Config() {
  LlmConfig config;
  config.providers["p"].models = {{"a", {}}, {"b/c:1", {}}};
  config.providers["q"].models = {{"c", {}}};
  return config;
}
Chain Of(std::vector<ModelName> models) {
  std::vector<Choice> choices;
  for (const ModelName& model : models) choices.push_back({model, ThinkingLevel::kOff});
  return Chain(std::move(choices), Config());
}
Failure After(ErrorClass kind, int wait) {
  Failure failure{kind, "why"};
  failure.retry_after = seconds(wait);
  return failure;
}

class ChainTest : public ::testing::Test {
 protected:
  ManualClock clock_;
  Cooldowns cooldowns_;
};
}  // namespace

TEST_F(ChainTest, TriesEachModelOnceInItsOrder) {
  Chain chain = Of({kA, kB, kC});
  for (const ModelName& model : {kA, kB, kC}) {
    const auto next = chain.Next(cooldowns_, clock_.Now());
    ASSERT_TRUE(next);
    EXPECT_EQ(next->model, model);
    EXPECT_TRUE(chain.MayGoOn({ErrorClass::kOverloaded, "why"}, false));
  }
  EXPECT_FALSE(chain.Next(cooldowns_, clock_.Now()));
  EXPECT_EQ(chain.Verdict(cooldowns_, clock_.Now()).kind, ErrorClass::kOverloaded);
}

TEST_F(ChainTest, AfterTheFirstContentNothingElseIsTried) {
  Chain chain = Of({kA, kB});
  chain.Next(cooldowns_, clock_.Now());
  EXPECT_FALSE(chain.MayGoOn({ErrorClass::kNetwork, "cut"}, true));
}

TEST_F(ChainTest, AConversationThatIsTooLongIsNotSentToOthers) {
  Chain chain = Of({kA, kB});
  chain.Next(cooldowns_, clock_.Now());
  EXPECT_FALSE(chain.MayGoOn({ErrorClass::kContextLength, "long"}, false));
}

TEST_F(ChainTest, CoolingModelsArePassedOver) {
  cooldowns_.Failed(kA, After(ErrorClass::kRateLimit, 30), clock_.Now());
  Chain chain = Of({kA, kB});
  EXPECT_EQ(chain.Next(cooldowns_, clock_.Now())->model, kB);
}

TEST_F(ChainTest, WhenAllCoolDownTheSoonestTimeIsTold) {
  cooldowns_.Failed(kA, After(ErrorClass::kRateLimit, 300), clock_.Now());
  cooldowns_.Failed(kB, After(ErrorClass::kOverloaded, 42), clock_.Now());
  Chain chain = Of({kA, kB});
  EXPECT_FALSE(chain.Next(cooldowns_, clock_.Now()));
  clock_.Advance(seconds(2));
  const Failure verdict = chain.Verdict(cooldowns_, clock_.Now());
  EXPECT_EQ(verdict.kind, ErrorClass::kCooling);
  EXPECT_EQ(verdict.retry_after, seconds(40));
  EXPECT_EQ(verdict.model, "b/c:1");
  EXPECT_EQ(verdict.message, "all 2 models are cooling down; the first back is p/b/c:1 for 40s (overloaded: why)");
}

TEST_F(ChainTest, ModelsThatAreNotConfiguredAreNeverAsked) {
  Chain chain = Of({{"p", "z"}, {"z", "a"}, {"p", "b"}, kC});
  EXPECT_EQ(chain.Next(cooldowns_, clock_.Now())->model, kC);
  Chain none = Of({{"p", "z"}});
  EXPECT_FALSE(none.Next(cooldowns_, clock_.Now()));
  EXPECT_EQ(none.Verdict(cooldowns_, clock_.Now()).kind, ErrorClass::kBadRequest);
  EXPECT_THAT(none.Verdict(cooldowns_, clock_.Now()).message, HasSubstr("no such model: p/z"));
  EXPECT_THAT(Of({}).Verdict(cooldowns_, clock_.Now()).message, HasSubstr("no model is chosen"));
}

}  // namespace beige::llm
