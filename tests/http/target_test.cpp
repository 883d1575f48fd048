#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/http_server.h"

namespace beige::http {
using ::testing::ElementsAre;

TEST(SplitPathTest, KeepsEmptySegmentsSoThatTwoPathsAreNeverOne) {
  EXPECT_THAT(SplitPath("/v1/agents"), ElementsAre("v1", "agents"));
  EXPECT_THAT(SplitPath("/v1/agents/"), ElementsAre("v1", "agents", ""));
  EXPECT_THAT(SplitPath("/v1//agents"), ElementsAre("v1", "", "agents"));
  EXPECT_THAT(SplitPath("/"), ElementsAre());
}

TEST(DecodeSegmentTest, DecodesWhatIsWhole) {
  EXPECT_EQ(*DecodeSegment("a%20b%C3%A4"), "a b\xC3\xA4");
  EXPECT_EQ(*DecodeSegment("%41"), "A");
}

TEST(DecodeSegmentTest, RefusesWhatCouldChangeThePath) {
  for (const char* bad : {"a%2Fb", "a%2fb", "..", "%2e%2e", ".", "a%00b", "%", "%4", "%zz", "a/b"}) {
    EXPECT_FALSE(DecodeSegment(bad)) << bad;
  }
}

TEST(RequestTest, HeadersAreFoundByTheirLowerCaseName) {
  Request request;
  request.headers = {{"host", "a"}, {"x-b", "c"}};
  EXPECT_EQ(request.Header("x-b"), "c");
  EXPECT_EQ(request.Header("absent"), "");
}

}  // namespace beige::http
