#include "gateway/llm/cooldowns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/llm/health_file.h"
#include "gateway/llm/retry_after.h"

namespace beige::llm {
namespace {
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
const ModelName kModel{"p", "m"};

Failure Of(ErrorClass kind, std::optional<milliseconds> after = std::nullopt) {
  Failure failure{kind, "why"};
  failure.retry_after = after;
  return failure;
}

class CooldownsTest : public ::testing::Test {
 protected:
  milliseconds Left(const ModelName& model = kModel) const {
    const auto until = cooldowns_.Until(model, clock_.Now());
    return until ? std::chrono::duration_cast<milliseconds>(*until - clock_.Now()) : milliseconds(0);
  }
  void Fail(ErrorClass kind, std::optional<milliseconds> after = std::nullopt) { cooldowns_.Failed(kModel, Of(kind, after), clock_.Now()); }

  ManualClock clock_;
  Cooldowns cooldowns_;
};
}  // namespace

TEST_F(CooldownsTest, LastsAsLongAsTheProviderSays) {
  Fail(ErrorClass::kRateLimit, seconds(7));
  EXPECT_EQ(Left(), seconds(7));
  EXPECT_EQ(Left({"p", "other"}), seconds(0));
  clock_.Advance(seconds(7));
  EXPECT_EQ(Left(), seconds(0));
}

TEST_F(CooldownsTest, ALaterFailureNeverShortensIt) {
  Fail(ErrorClass::kRateLimit, hours(1));
  clock_.Advance(seconds(60));
  Fail(ErrorClass::kRateLimit, seconds(1));
  Fail(ErrorClass::kNetwork);
  EXPECT_EQ(Left(), seconds(3540));
  EXPECT_EQ(cooldowns_.Find(kModel)->why, ErrorClass::kRateLimit) << "the reason of the cooldown that counts";
  Fail(ErrorClass::kOverloaded, hours(2));
  EXPECT_EQ(Left(), hours(2));
}

TEST_F(CooldownsTest, WithoutAWordItDoublesUpToALimit) {
  milliseconds last{0};
  for (int i = 0; i < 40; ++i) {
    Fail(ErrorClass::kOverloaded);
    const milliseconds left = Left();
    EXPECT_GE(left, last);
    last = left;
    clock_.Advance(left);
  }
  EXPECT_EQ(last, std::chrono::minutes(5));
  EXPECT_EQ(CooldownFor(ErrorClass::kOverloaded, 1), seconds(5));
  EXPECT_EQ(CooldownFor(ErrorClass::kOverloaded, 2), seconds(10));
}

TEST_F(CooldownsTest, ASuccessStartsTheRowAnewButEndsNoCooldown) {
  Fail(ErrorClass::kOverloaded);
  Fail(ErrorClass::kOverloaded);
  cooldowns_.Succeeded(kModel);
  EXPECT_EQ(Left(), seconds(10));
  clock_.Advance(seconds(10));
  Fail(ErrorClass::kOverloaded);
  EXPECT_EQ(Left(), seconds(5));
}

TEST_F(CooldownsTest, WhatIsTheRequestsFaultCoolsNothingDown) {
  for (const ErrorClass kind : {ErrorClass::kBadRequest, ErrorClass::kContextLength, ErrorClass::kBusy, ErrorClass::kCooling}) {
    Fail(kind, seconds(100));
    EXPECT_EQ(Left(), seconds(0)) << ErrorClassName(kind);
  }
}

TEST_F(CooldownsTest, NoProviderMayBlockAModelForEver) {
  Fail(ErrorClass::kRateLimit, hours(24 * 365));
  EXPECT_EQ(Left(), hours(24));
}

TEST_F(CooldownsTest, SurvivesARestart) {
  Fail(ErrorClass::kRateLimit, seconds(100));
  cooldowns_.Failed({"p", "x/y:1"}, Of(ErrorClass::kStalled, seconds(60)), clock_.Now());
  cooldowns_.Failed({"p", "key"}, Of(ErrorClass::kAuth), clock_.Now());
  cooldowns_.Failed({"q", "gone"}, Of(ErrorClass::kNetwork), clock_.Now());
  clock_.Advance(seconds(40));
  const std::string text = EncodeHealth(cooldowns_, clock_);
  EXPECT_THAT(text, Not(HasSubstr("gone")));
  clock_.Advance(seconds(10));  // the gateway was away
  cooldowns_ = DecodeHealth(text, clock_);
  EXPECT_EQ(Left(), seconds(50));
  EXPECT_EQ(Left({"p", "x/y:1"}), seconds(10));
  EXPECT_EQ(cooldowns_.Find(kModel)->why, ErrorClass::kRateLimit);
  EXPECT_EQ(cooldowns_.Find(kModel)->message, "why");
  EXPECT_EQ(Left({"p", "key"}), seconds(0)) << "the restart may have brought another key";
}

TEST_F(CooldownsTest, ABrokenHealthFileCostsNothingButARequest) {
  for (const char* text : {"", "{", "[]", "{\"v\":1,\"models\":7}", "{\"models\":[1,null,{},{\"provider\":\"p\",\"model\":\"m\",\"until\":\"soon\"},{\"provider\":7}]}",
                           "{\"models\":[{\"provider\":\"p\",\"model\":\"m\",\"until\":\"2020-01-01T00:00:00Z\"}]}"}) {
    EXPECT_TRUE(DecodeHealth(text, clock_).all().empty()) << text;
  }
  // A clock that was wrong when the file was written must not block a model for years.
  cooldowns_ = DecodeHealth("{\"models\":[{\"provider\":\"p\",\"model\":\"m\",\"until\":\"2200-01-01T00:00:00Z\",\"why\":\"x\",\"failures\":-5}]}", clock_);
  EXPECT_EQ(Left(), hours(24));
}

TEST_F(CooldownsTest, ForgetsAProviderWhoseConfigurationChanged) {
  Fail(ErrorClass::kAuth);
  cooldowns_.Failed({"q", "m"}, Of(ErrorClass::kAuth), clock_.Now());
  cooldowns_.Forget("p");
  EXPECT_EQ(Left(), seconds(0));
  EXPECT_EQ(Left({"q", "m"}), seconds(60));
}

}  // namespace beige::llm
