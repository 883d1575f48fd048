#include "gateway/llm/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beige::llm {
namespace {
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using K = ErrorClass;

struct Row {
  int status;
  const char* body;
  ErrorClass kind;
};
const SystemTime kNow = ManualClock().WallNow();
}  // namespace

TEST(FailureTest, ClassesOfWhatProvidersSay) {
  const Row rows[] = {
      {429, R"({"type":"error","error":{"type":"rate_limit_error","message":"x"}})", K::kRateLimit},
      {429, R"({"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}})", K::kAuth},
      {429, R"({"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED"}})", K::kRateLimit},
      {429, "", K::kRateLimit},
      {529, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})", K::kOverloaded},
      {503, R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})", K::kOverloaded},
      {500, "boom", K::kOverloaded},
      {502, "<html>Bad gateway</html>", K::kOverloaded},
      {408, "", K::kOverloaded},
      {401, R"({"error":{"message":"bad key"}})", K::kAuth},
      {403, R"({"error":{"code":403,"message":"no","status":"PERMISSION_DENIED"}})", K::kAuth},
      {402, R"({"error":{"message":"pay"}})", K::kAuth},
      {400, R"([{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}])", K::kAuth},
      {400, R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}})", K::kContextLength},
      {400, R"({"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}})", K::kContextLength},
      {400, R"({"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}})", K::kContextLength},
      {400, R"({"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}})", K::kContextLength},
      {413, R"({"type":"error","error":{"type":"request_too_large","message":"x"}})", K::kContextLength},
      {400, R"({"error":{"message":"tools[0].name: bad","type":"invalid_request_error"}})", K::kBadRequest},
      {404, R"({"error":{"message":"model 'x' not found","type":"not_found_error"}})", K::kBadRequest},
      {404, R"({"error":"model 'x' not found"})", K::kBadRequest},
      {422, R"({"detail":"bad field"})", K::kBadRequest},
      {200, R"({"error":{"message":"Overloaded","type":"overloaded_error"}})", K::kOverloaded},
      {200, "<html>hello</html>", K::kProtocol},
      {200, R"({"choices":[]})", K::kProtocol},
      {204, "", K::kProtocol},
      {301, "", K::kProtocol},
      {307, "", K::kProtocol},
      {400, R"({"error":{"message":7,"type":[],"code":{}}})", K::kBadRequest},
  };
  for (const Row& row : rows) {
    const Failure failure = FailureOfAnswer(row.status, {}, row.body, kNow);
    EXPECT_EQ(ErrorClassName(failure.kind), ErrorClassName(row.kind)) << row.status << " " << row.body << " -> " << failure.message;
    EXPECT_EQ(failure.status, row.status);
    EXPECT_FALSE(failure.message.empty());
  }
}

TEST(FailureTest, WaitComesFromHeadersOrFromTheBody) {
  const char* body = R"({"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.Help"},
                         {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"12.5s"}]}})";
  EXPECT_EQ(FailureOfAnswer(429, {}, body, kNow).retry_after, milliseconds(12'500));
  EXPECT_EQ(FailureOfAnswer(429, {{"retry-after", "7"}}, body, kNow).retry_after, milliseconds(7'000));
  EXPECT_EQ(FailureOfAnswer(400, {{"retry-after", "7"}}, "", kNow).retry_after, std::nullopt) << "a bad request stays bad";
}

TEST(FailureTest, MessageIsOneShortLine) {
  const Failure failure = FailureOfAnswer(500, {}, "{\"error\":{\"message\":\"a\\nb\\u0007" + std::string(5000, 'x') + "\"}}", kNow);
  const std::string shown = Presentable(failure.message, Secret());
  EXPECT_THAT(shown, HasSubstr("status 500: a b x"));
  EXPECT_LT(shown.size(), 700u);
  EXPECT_EQ(shown.find('\n'), std::string::npos);
  EXPECT_THAT(Presentable(std::string(599, 'x') + "\xc3\xbc" + std::string(9, 'y'), Secret()), ::testing::EndsWith("xxx..."));
}

TEST(FailureTest, NoPartOfAKeyIsLeftWhereverTheMessageIsCut) {
  const std::string key = "sk-canary-0123456789";
  for (size_t before = 570; before < 620; ++before) {
    const Failure failure = FailureOfAnswer(401, {}, "{\"error\":{\"message\":\"" + std::string(before, 'x') + key + "yyy\"}}", kNow);
    EXPECT_EQ(Presentable(failure.message, Secret(key)).find("sk-"), std::string::npos) << before;
  }
}

TEST(FailureTest, RedirectSaysWhatToDo) { EXPECT_THAT(FailureOfAnswer(302, {}, "", kNow).message, HasSubstr("set baseUrl")); }

}  // namespace beige::llm
