#include "gateway/cli_socket/exec_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beige {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DecodeExecRequestTest, ReadsEveryField) {
  std::string fields;
  v2::AppendField(fields, BGE_TAG_NAMESPACE, "team");
  v2::AppendField(fields, BGE_TAG_AGENT, "a1");
  v2::AppendField(fields, BGE_TAG_ARG, "ls");
  v2::AppendField(fields, BGE_TAG_ARG, "-l");
  v2::AppendField(fields, BGE_TAG_ENV, "A=b=c");
  v2::AppendField(fields, BGE_TAG_CWD, "/tmp");
  v2::AppendU32Field(fields, BGE_TAG_FLAGS, BGE_FLAG_STDIN | BGE_FLAG_DETACHED);
  v2::AppendU32Field(fields, BGE_TAG_DEADLINE, 1500);
  v2::AppendField(fields, BGE_TAG_TTY, v2::EncodeSize({132, 50}));
  v2::AppendField(fields, 200, "of a newer CLI");
  const auto request = DecodeExecRequest(fields);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->agent, (AgentKey{"team", "a1"}));
  const CallRequest& call = request->call;
  EXPECT_EQ(call.kind, CallKind::kExec);
  EXPECT_EQ(call.surface, Surface::kExec);
  EXPECT_EQ(call.actor, "local");
  EXPECT_THAT(call.args, ElementsAre("ls", "-l"));
  EXPECT_THAT(call.env, ElementsAre("A=b=c"));
  EXPECT_EQ(call.cwd_claim, "/tmp");
  EXPECT_TRUE(call.stdin_open);
  EXPECT_TRUE(call.detached);
  EXPECT_EQ(call.timeout.count(), 1500);
  EXPECT_EQ(call.terminal, (v2::TerminalSize{132, 50}));
}

TEST(DecodeExecRequestTest, RefusesWhatNoProcessCouldBeStartedWith) {
  const auto with = [](uint8_t tag, std::string_view value) {
    std::string fields;
    v2::AppendField(fields, BGE_TAG_ARG, "true");
    v2::AppendField(fields, tag, value);
    const auto request = DecodeExecRequest(fields);
    return request ? std::string("accepted") : request.error().message;
  };
  EXPECT_THAT(with(BGE_TAG_ARG, std::string(BGE_MAX_ARG + 1, 'x')), HasSubstr("command[1]: 131073 bytes"));
  EXPECT_THAT(with(BGE_TAG_ARG, std::string_view("\0", 1)), HasSubstr("NUL"));
  EXPECT_THAT(with(BGE_TAG_ENV, "NOEQUALS"), HasSubstr("want NAME=VALUE"));
  EXPECT_THAT(with(BGE_TAG_ENV, "=x"), HasSubstr("want NAME=VALUE"));
  EXPECT_THAT(with(BGE_TAG_CWD, std::string_view("/a\0b", 4)), HasSubstr("cwd"));
  EXPECT_THAT(with(BGE_TAG_DEADLINE, "12"), HasSubstr("4-byte"));
  EXPECT_FALSE(DecodeExecRequest(""));
  EXPECT_FALSE(DecodeExecRequest("\x02\xff\xff\xff\x7f"));
}

TEST(DecodeExecRequestTest, ManyArgumentsTogetherAreBounded) {
  std::string fields;
  for (int i = 0; i < 9; ++i) v2::AppendField(fields, BGE_TAG_ARG, std::string(BGE_MAX_ARG, 'x'));
  const auto request = DecodeExecRequest(fields);
  ASSERT_FALSE(request);
  EXPECT_THAT(request.error().message, HasSubstr("the limit is 1048576"));
}

}  // namespace beige
