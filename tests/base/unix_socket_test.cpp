#include "base/unix_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "tests/support/temp_dir.h"

namespace beige {
namespace {

std::string PathOfBytes(const TempDir& dir, size_t bytes) {
  std::string path = dir / "s";
  path.append(bytes - path.size(), 's');
  return path;
}

UniqueFd Accept(int listener) { return UniqueFd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)); }

TEST(UnixSocketTest, CarriesBytesAndKnowsThePeer) {
  TempDir dir;
  const auto listener = ListenUnix(dir / "a.sock", 0600);
  ASSERT_TRUE(listener) << listener.error().message;
  const auto client = ConnectUnix(dir / "a.sock");
  ASSERT_TRUE(client) << client.error().message;
  const UniqueFd server = Accept(listener->get());
  ASSERT_TRUE(server);
  ASSERT_TRUE(SendAll(client->get(), "hello"));
  char buffer[16];
  EXPECT_EQ(::read(server.get(), buffer, sizeof buffer), 5);
  const auto peer = PeerOf(server.get());
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->pid, ::getpid());
  EXPECT_EQ(peer->uid, ::getuid());
  struct stat info {};
  ASSERT_EQ(::stat((dir / "a.sock").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
}

TEST(UnixSocketTest, TakesPathsOf107BytesAndRefuses108ByName) {
  TempDir dir;
  const std::string longest = PathOfBytes(dir, 107);
  EXPECT_TRUE(CheckSocketPath(longest));
  const auto listener = ListenUnix(longest, 0600);
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_TRUE(ConnectUnix(longest));
  const std::string too_long = PathOfBytes(dir, 108);
  for (const auto& refused : {CheckSocketPath(too_long), Result<>(ListenUnix(too_long, 0600).map([](auto&&) {})), Result<>(ConnectUnix(too_long).map([](auto&&) {}))}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kInvalid);
    EXPECT_NE(refused.error().message.find("107"), std::string::npos);
  }
}

TEST(UnixSocketTest, ReplacesTheFileOfADeadProcessWithoutALeftover) {
  TempDir dir;
  const std::string path = dir / "a.sock";
  { ASSERT_TRUE(ListenUnix(path, 0600)); }
  const auto dead = ConnectUnix(path);
  ASSERT_FALSE(dead);
  EXPECT_EQ(dead.error().code, Code::kUnavailable);
  const auto again = ListenUnix(path, 0600);
  ASSERT_TRUE(again);
  EXPECT_TRUE(ConnectUnix(path));
  EXPECT_EQ(ListDir(dir.path()).value(), std::vector<std::string>{"a.sock"});
}

TEST(UnixSocketTest, AnAbsentSocketIsUnavailable) {
  TempDir dir;
  EXPECT_EQ(ConnectUnix(dir / "none").error().code, Code::kUnavailable);
}

TEST(UnixSocketTest, WritingToAPeerThatIsGoneIsAnErrorAndNoSignal) {
  TempDir dir;
  const auto listener = ListenUnix(dir / "a", 0600);
  const auto client = ConnectUnix(dir / "a");
  ASSERT_TRUE(client);
  Accept(listener->get()).Reset();
  EXPECT_EQ(SendAll(client->get(), "x").error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace beige
