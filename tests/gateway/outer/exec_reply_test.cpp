#include "gateway/http/exec_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beige {
using ::testing::HasSubstr;

TEST(ExecReplyTest, TextStaysText) {
  const auto reply = ExecReply({BGE_HOW_EXITED, 3, "", "id"}, {"o\"ut\n", "\xC3\xA4", false});
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "{\"exitCode\":3,\"signal\":null,\"stdout\":\"o\\\"ut\\n\",\"stderr\":\"\xC3\xA4\",\"encoding\":\"utf8\"}\n");
}

TEST(ExecReplyTest, BytesThatAreNoTextMakeBothStreamsBase64) {
  const auto reply = ExecReply({BGE_HOW_EXITED, 0, "", ""}, {std::string("\xff\x00", 2), "text", false});
  EXPECT_THAT(reply.body, HasSubstr(R"("stdout":"/wA=","stderr":"dGV4dA==","encoding":"base64")"));
}

TEST(ExecReplyTest, SignalsAndTimeoutsAreAsAShellSeesThem) {
  EXPECT_THAT(ExecReply({BGE_HOW_SIGNALED, 9, "", ""}, {}).body, HasSubstr(R"("exitCode":137,"signal":9)"));
  const auto timeout = ExecReply({BGE_HOW_TIMEOUT, 124, "timed out after 1s", ""}, {"partial", "", false});
  EXPECT_EQ(timeout.status, 200);
  EXPECT_THAT(timeout.body, HasSubstr(R"("exitCode":124,"signal":null,"stdout":"partial")"));
  EXPECT_THAT(timeout.body, HasSubstr(R"("error":"timed out after 1s")"));
}

TEST(ExecReplyTest, NoExitStatusIsMadeUpForWhatNeverEnded) {
  EXPECT_EQ(ExecReply({BGE_HOW_DENIED, 126, "suspended", ""}, {}).status, 403);
  EXPECT_EQ(ExecReply({BGE_HOW_LOST, 125, "the sandbox went away", ""}, {"half", "", false}).status, 503);
  EXPECT_EQ(ExecReply({BGE_HOW_FAILED, 125, "not connected", ""}, {}).status, 503);
  EXPECT_EQ(ExecReply({BGE_HOW_FAILED, 127, "not found", ""}, {}).status, 200);
}

TEST(ExecReplyTest, CutOutputIsSaid) {
  EXPECT_THAT(ExecReply({}, {"x", "", true}).body, HasSubstr(R"("truncated":true)"));
}

}  // namespace beige
