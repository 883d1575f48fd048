#include "api/admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beige::admin {
namespace {

Grant FullGrant() {
  return {{"lab", "a1", "uid-1"}, 7, {{"team", "papers"}}, "two\nlines \"quoted\"", {"kv", "papers"}, {"typst"}, true, 200001,
          {"read", "exec"}, {{"anthropic/claude-sonnet-4-6", "low"}, {"local/qwen/3:8b", "off"}}, "Be \"brief\".\n"};
}

TEST(AdminCodecTest, EveryMessageToTheGatewaySurvives) {
  const ToGateway messages[] = {Hello{1, 3, {"roundTrip", "x"}, "0.1.0"}, Sync{{FullGrant(), Grant{}}}, Sync{}, Put{FullGrant()}, Remove{"uid-1"}, Announce{"uid-1", "instance-1"}, Probe{"uid-1"}};
  for (const ToGateway& message : messages) {
    const std::string line = Encode(message);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto back = DecodeToGateway(line);
    ASSERT_TRUE(back) << line << ": " << back.error().message;
    EXPECT_EQ(*back, message) << line;
  }
}

TEST(AdminCodecTest, EveryMessageToTheOperatorSurvives) {
  const ToOperator messages[] = {Hello{},
                                 InForce{"uid-1", 7, {"kv"}, {"nope"}, {"no-skill"}, {{"broken", "tool.yaml:3: name: is missing"}}, {{"big", "over 64 MiB"}}, {"nobody/knows"}},
                                 Rejected{"uid-1", 7, "disk full"},
                                 Removed{"uid-1"},
                                 Synced{12},
                                 Announced{"uid-1", "instance-1", "disk full"},
                                 Registered{"uid-1", "instance-1", "0.1.0"},
                                 Lost{"uid-1"},
                                 RoundTrip{"uid-1", true, 412, ""},
                                 RoundTrip{"uid-1", false, 0, "timed out"}};
  for (const ToOperator& message : messages) {
    const auto back = DecodeToOperator(Encode(message));
    ASSERT_TRUE(back) << Encode(message) << ": " << back.error().message;
    EXPECT_EQ(*back, message) << Encode(message);
  }
}

TEST(AdminCodecTest, MalformedLinesAreInvalidAndSayWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "not JSON"},
      {"{", "not JSON"},
      {"[]", "want an object"},
      {"null", "want an object"},
      {"{}", "type: is missing"},
      {R"({"type":7})", "type: want a string, got 7"},
      {R"({"type":"hello"})", "min: is missing"},
      {R"({"type":"hello","min":"1","max":1})", "min: want an integer"},
      {R"({"type":"hello","min":1,"max":99999999999})", "max: want an integer"},
      {R"({"type":"sync"})", "grants: is missing"},
      {R"({"type":"sync","grants":{}})", "grants: want a list of objects"},
      {R"({"type":"sync","grants":[1]})", "grants[0]: want an object, got 1"},
      {R"({"type":"put"})", "grant: is missing"},
      {R"({"type":"put","grant":{"agent":{"namespace":"d","name":"a"}}})", "grant.agent.uid: is missing"},
      {R"({"type":"put","grant":{"agent":{"namespace":"d","name":"a","uid":"u"},"generation":1,"skills":[],"suspended":false,"sandboxUid":1}})", "grant.tools: is missing"},
      {R"({"type":"put","grant":{"agent":{"namespace":"d","name":"a","uid":"u"},"generation":1,"tools":["a",1],"skills":[],"suspended":false,"sandboxUid":1}})", "grant.tools: want a list of strings"},
      {R"({"type":"put","grant":{"agent":{"namespace":"d","name":"a","uid":"u"},"generation":1,"tools":[],"skills":[],"suspended":0,"sandboxUid":1}})", "grant.suspended: want true or false"},
      {R"({"type":"put","grant":{"agent":{"namespace":"d","name":"a","uid":"u"},"generation":1,"tools":[],"skills":[],"suspended":false,"sandboxUid":-1}})", "grant.sandboxUid: want an integer from 0"},
      {R"({"type":"remove"})", "uid: is missing"},
      {R"({"type":"remove","uid":null})", "uid: is missing"},
      {R"({"type":"announce","uid":"u"})", "instance: is missing"},
      {"{\"type\":\"remove\",\"uid\":\"\xff\"}", "not JSON"},
      {R"({"type":"remove","uid":"u"}{"type":"remove","uid":"v"})", "not JSON"},
  };
  for (const auto& [line, message] : cases) {
    const auto got = DecodeToGateway(line);
    ASSERT_FALSE(got) << line;
    EXPECT_EQ(got.error().code, Code::kInvalid) << line;
    EXPECT_THAT(got.error().message, testing::HasSubstr(message)) << line;
  }
}

TEST(AdminCodecTest, AnUnknownTypeIsNotFoundSoThatItCanBeSkipped) {
  EXPECT_EQ(DecodeToGateway(R"({"type":"wake","uid":"u"})").error().code, Code::kNotFound);
  EXPECT_EQ(DecodeToOperator(R"({"type":"wake","uid":"u"})").error().code, Code::kNotFound);
  // A message of the other direction is none of ours.
  EXPECT_EQ(DecodeToGateway(Encode(ToOperator(Lost{"u"}))).error().code, Code::kNotFound);
}

TEST(AdminCodecTest, UnknownFieldsAreIgnored) {
  const auto got = DecodeToGateway(R"({"type":"remove","uid":"u","why":{"deep":[1,2]}})");
  ASSERT_TRUE(got);
  EXPECT_EQ(std::get<Remove>(*got).uid, "u");
}

TEST(AdminCodecTest, ALineBeyondTheLimitIsRefusedUnread) {
  const auto got = DecodeToGateway(std::string(kMaxLine + 1, ' '));
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, testing::HasSubstr("want at most"));
}

TEST(AdminCodecTest, DeepNestingIsNoCrash) {
  std::string deep = R"({"type":"remove","uid":"u","x":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_TRUE(DecodeToGateway(deep));
  EXPECT_FALSE(DecodeToGateway(std::string(100'000, '[')));
}

TEST(AdminCodecTest, GrantsAreKeptInTheSameForm) {
  const auto back = DecodeGrant(EncodeGrant(FullGrant()));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, FullGrant());
  EXPECT_FALSE(DecodeGrant("{}"));
  EXPECT_FALSE(DecodeGrant(R"({"agent":{"namespace":"d","name":"a","uid":"u"},"generation":1,"tools":[],"skills":[],"suspended":false,"sandboxUid":1,"coreTools":"all"})"));
  EXPECT_FALSE(DecodeGrant(R"({"agent":{"namespace":"d","name":"a","uid":"u"},"generation":1,"tools":[],"skills":[],"suspended":false,"sandboxUid":1,"modelChoices":[{"name":"a/b"}]})"));
  EXPECT_FALSE(DecodeGrant(""));
}

TEST(AdminCodecTest, AGrantOfAVersionBeforeModelsHasAllCoreToolsAndNoModel) {
  const auto old = DecodeGrant(R"({"agent":{"namespace":"d","name":"a","uid":"u"},"generation":1,"tools":["kv"],"skills":[],"suspended":false,"sandboxUid":1})");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_THAT(old->core_tools, testing::ElementsAre("read", "write", "patch", "exec"));
  EXPECT_THAT(old->model_choices, testing::IsEmpty());
  EXPECT_EQ(old->instructions, "");
  Grant none = *old;
  none.core_tools.clear();
  EXPECT_THAT(DecodeGrant(EncodeGrant(none))->core_tools, testing::IsEmpty());
}

TEST(AdminCodecTest, ASyncOfAThousandAgentsWithTheLongestInstructionsIsOneLine) {
  Grant grant = FullGrant();
  grant.instructions.assign(65536, 'x');
  EXPECT_LT(1000 * EncodeGrant(grant).size(), kMaxLine - 1000);
}

}  // namespace
}  // namespace beige::admin
