#include "gateway/http/exec_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beige {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ExecBodyTest, ReadsEveryField) {
  const auto body = DecodeExecBody(R"({"command":["sh","-c","ls"],"stdin":"aGVsbG8=","stdinEncoding":"base64","timeout":"1m30s","env":{"A":"b"},"cwd":"sub"})");
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_THAT(body->call.args, ElementsAre("sh", "-c", "ls"));
  EXPECT_THAT(body->call.env, ElementsAre("A=b"));
  EXPECT_EQ(body->call.cwd_claim, "sub");
  EXPECT_EQ(body->call.timeout, std::chrono::seconds(90));
  EXPECT_EQ(body->stdin_bytes, "hello");
  EXPECT_TRUE(body->call.stdin_open);
  EXPECT_EQ(body->call.surface, Surface::kHttp);
  EXPECT_EQ(body->call.kind, CallKind::kExec);
}

TEST(ExecBodyTest, WithoutStdinNothingIsOpen) {
  const auto body = DecodeExecBody(R"({"command":["true"]})");
  ASSERT_TRUE(body);
  EXPECT_FALSE(body->call.stdin_open);
  EXPECT_EQ(body->call.timeout.count(), 0);
}

struct BadBody {
  const char* json;
  const char* field;
  const char* message;
};
class BadExecBodyTest : public ::testing::TestWithParam<BadBody> {};

TEST_P(BadExecBodyTest, IsRefusedNamingTheField) {
  const auto body = DecodeExecBody(GetParam().json);
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().field, GetParam().field);
  EXPECT_THAT(body.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, BadExecBodyTest,
    ::testing::Values(BadBody{"", "", "want one JSON object"}, BadBody{"{", "", "want one JSON object"}, BadBody{"[]", "", "want a JSON object, got array"},
                      BadBody{"{\"command\":[\"\xff\"]}", "", "UTF-8"}, BadBody{R"({"command":["a"]} x)", "", "want one JSON object"},
                      BadBody{R"({})", "command", "is missing"}, BadBody{R"({"command":"ls"})", "command", "got string"},
                      BadBody{R"({"command":[]})", "command", "got nothing"}, BadBody{R"({"command":[""]})", "command", "got nothing"},
                      BadBody{R"({"command":["a",1]})", "command[1]", "got number"}, BadBody{R"({"command":["a\u0000b"]})", "command[0]", "NUL"},
                      BadBody{R"({"comand":["a"]})", "comand", "did you mean command?"}, BadBody{R"({"command":["a"],"x":1})", "x", "no such field"},
                      BadBody{R"({"command":["a"],"command":["b"]})", "command", "given twice"},
                      BadBody{R"({"command":["a"],"env":{"A":"1","A":"2"}})", "A", "given twice"},
                      BadBody{R"({"command":["a"],"timeout":"fast"})", "timeout", "such as 30s, got \"fast\""},
                      BadBody{R"({"command":["a"],"timeout":"0s"})", "timeout", "want a duration"}, BadBody{R"({"command":["a"],"timeout":30})", "timeout", "got number"},
                      BadBody{R"({"command":["a"],"stdin":1})", "stdin", "got number"}, BadBody{R"({"command":["a"],"stdinEncoding":"hex"})", "stdinEncoding", "utf8 or base64"},
                      BadBody{R"({"command":["a"],"stdin":"abc","stdinEncoding":"base64"})", "stdin", "base64"},
                      BadBody{R"({"command":["a"],"stdin":"!!!!","stdinEncoding":"base64"})", "stdin", "base64"},
                      BadBody{R"({"command":["a"],"env":["A=b"]})", "env", "got array"}, BadBody{R"({"command":["a"],"env":{"A B":"c"}})", "env", "letters, digits"},
                      BadBody{R"({"command":["a"],"env":{"A":1}})", "env.A", "got number"},
                      BadBody{R"({"command":["a"],"env":{"A":[[[[[[[[[[[[1]]]]]]]]]]]]}})", "", "nested deeper"}));

TEST(ExecBodyTest, ThirtyThousandBracketsAreAnErrorAndNoCrash) {
  EXPECT_FALSE(DecodeExecBody("{\"env\":" + std::string(30000, '[')));
}

TEST(ExecBodyTest, AnArgumentOverTheKernelsLimitIsNamed) {
  const auto body = DecodeExecBody("{\"command\":[\"a\",\"" + std::string(BGE_MAX_ARG + 1, 'x') + "\"]}");
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().field, "command[1]");
}

}  // namespace beige
