#include "gateway/http/auth.h"

#include <gtest/gtest.h>

namespace beige {
namespace {
http::Request With(std::string host, std::string origin = "", std::string site = "") {
  http::Request request;
  request.headers.emplace_back("host", std::move(host));
  if (!origin.empty()) request.headers.emplace_back("origin", std::move(origin));
  if (!site.empty()) request.headers.emplace_back("sec-fetch-site", std::move(site));
  return request;
}
}  // namespace

TEST(AuthTest, OnlyAWholeTokenIsFound) {
  Auth auth(Listen{"127.0.0.1", 7433});
  auth.SetTokens({{"one", Secret("0123456789abcdef0123"), {"read"}}, {"two", Secret("fedcba9876543210fedc"), {"exec"}}});
  ASSERT_TRUE(auth.Find("Bearer 0123456789abcdef0123"));
  EXPECT_EQ(auth.Find("Bearer 0123456789abcdef0123")->name, "one");
  EXPECT_EQ(auth.Find("bearer  fedcba9876543210fedc")->name, "two");
  for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer 0123456789abcdef012", "Bearer 0123456789abcdef01234", "Basic 0123456789abcdef0123",
                            "0123456789abcdef0123", "Bearer 0123456789ABCDEF0123", "Bearer0123456789abcdef0123"}) {
    EXPECT_FALSE(auth.Find(wrong)) << wrong;
  }
}

TEST(AuthTest, WithoutTokensNobodyComesIn) {
  const Auth auth(Listen{"127.0.0.1", 7433});
  EXPECT_FALSE(auth.Find("Bearer "));
  EXPECT_FALSE(auth.Find("Bearer x"));
}

TEST(AuthTest, AnOldTokenEndsWithTheReloadThatDropsIt) {
  Auth auth(Listen{"127.0.0.1", 7433});
  auth.SetTokens({{"one", Secret("0123456789abcdef0123"), {"read"}}});
  const auto held = auth.Find("Bearer 0123456789abcdef0123");
  auth.SetTokens({});
  EXPECT_FALSE(auth.Find("Bearer 0123456789abcdef0123"));
  EXPECT_EQ(held->name, "one");  // a request that is being served goes on
}

TEST(AuthTest, HostMustBeLoopbackOrTheConfiguredAddress) {
  const Auth auth(Listen{"192.168.7.7", 7433});
  for (const char* good : {"127.0.0.1:7433", "localhost:7433", "LOCALHOST", "localhost.:7433", "[::1]:7433", "127.0.0.53", "192.168.7.7:7433"}) {
    EXPECT_TRUE(auth.CheckSite(With(good))) << good;
  }
  for (const char* bad : {"", "evil.example", "evil.example:7433", "127.0.0.1.evil.example", "localhost.evil.example:7433", "192.168.7.8:7433",
                          "10.0.0.1", "[::2]", "[::1", "localhost:x", "127.0.0.1@evil.example", "2130706433"}) {
    EXPECT_FALSE(auth.CheckSite(With(bad))) << bad;
  }
}

TEST(AuthTest, AWildcardAddressTakesAnyAddressButNoName) {
  const Auth auth(Listen{"0.0.0.0", 7433});
  EXPECT_TRUE(auth.CheckSite(With("10.1.2.3:7433")));
  EXPECT_TRUE(auth.CheckSite(With("[fd00::1]:7433")));
  EXPECT_FALSE(auth.CheckSite(With("evil.example:7433")));
}

TEST(AuthTest, AnOriginMustBeThisVeryHost) {
  const Auth auth(Listen{"127.0.0.1", 7433});
  EXPECT_TRUE(auth.CheckSite(With("localhost:7433", "http://localhost:7433")));
  for (const char* bad : {"http://evil.example", "null", "http://localhost:8000", "https://localhost:7433", "http://127.0.0.1:7433", "file://"}) {
    EXPECT_FALSE(auth.CheckSite(With("localhost:7433", bad))) << bad;
  }
  EXPECT_FALSE(auth.CheckSite(With("localhost:7433", "", "cross-site")));
  EXPECT_TRUE(auth.CheckSite(With("localhost:7433", "", "none")));
}

}  // namespace beige
