#include "base/socket_stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace beige {
namespace {

// Streams of one party that have much to say, and one of another that says a little after all of them.
class SocketStreamTurnsTest : public ::testing::Test {
 protected:
  struct End final : SocketStreamOwner {
    End(SocketStreamTurnsTest& t, Party& party) : test(t) {
      int pair[2];
      EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
      peer.Reset(pair[1]);
      stream = std::make_unique<SocketStream>(test.loop, test.batch, UniqueFd(pair[0]), this, &party);
    }
    void OnBytes(std::string_view bytes) override {
      if (quiet && !std::exchange(test.heard, true)) test.unsent_then = test.Unsent();
      if (!test.heard) test.bytes_before += bytes.size();
    }
    void OnEof() override { test.ends_before += test.heard ? 0u : 1u; }
    void OnClosed() override { ++test.closed; }
    SocketStreamTurnsTest& test;
    bool quiet = false;
    UniqueFd peer;
    std::unique_ptr<SocketStream> stream;
  };

  SocketStreamTurnsTest() {
    for (int i = 0; i < 64; ++i) flood.push_back(std::make_unique<End>(*this, loud_party));
    quiet.quiet = true;
  }
  size_t Unsent() const {
    size_t sum = 0;
    for (const auto& end : flood) sum += end->stream->unsent();
    return sum;
  }
  void Run() {
    ASSERT_EQ(::write(quiet.peer.get(), "x", 1), 1);
    while (loop.RunOnce(std::chrono::milliseconds(1))) {
    }
    EXPECT_TRUE(heard);
  }

  Loop loop;
  WriteBatch batch;
  Turns turns{loop};
  Party loud_party{turns};
  Party quiet_party{turns};
  bool heard = false;
  size_t bytes_before = 0;
  size_t ends_before = 0;
  size_t closed = 0;
  size_t unsent_then = 0;
  std::vector<std::unique_ptr<End>> flood;
  End quiet{*this, quiet_party};
};

TEST_F(SocketStreamTurnsTest, OfMuchThatCameAtOnceALittleIsReadBeforeAnotherIsHeard) {
  const std::string much(64 << 10, 'x');
  for (auto& end : flood) ASSERT_EQ(::write(end->peer.get(), much.data(), much.size()), static_cast<ssize_t>(much.size()));
  Run();
  EXPECT_LE(bytes_before, 64u << 10);
}

TEST_F(SocketStreamTurnsTest, OfManyThatReadAtLastAFewAreWrittenToBeforeAnotherIsHeard) {
  const std::string much(1 << 20, 'x');
  for (auto& end : flood) end->stream->Write(much);
  while (loop.RunOnce(std::chrono::milliseconds(1))) {
  }
  std::string sink(1 << 20, '\0');
  for (auto& end : flood) ASSERT_GT(::read(end->peer.get(), sink.data(), sink.size()), 64 << 10);
  const size_t before = Unsent();
  Run();
  EXPECT_LE(before - unsent_then, 64u << 10);
  EXPECT_LT(Unsent(), unsent_then) << "they are served all the same";
}

TEST_F(SocketStreamTurnsTest, OfManyThatEndAtOnceAFewAreLookedAfterBeforeAnotherIsHeard) {
  for (auto& end : flood) end->peer.Reset();
  Run();
  EXPECT_LE(ends_before, 4u);
}

TEST_F(SocketStreamTurnsTest, WhoIsNotReadAndGoesIsToldOnceInItsTurnUnlessItWentBefore) {
  for (auto& end : flood) end->stream->PauseReading(true);
  for (auto& end : flood) end->peer.Reset();
  Run();
  EXPECT_EQ(closed, flood.size());
  const std::string much(16 << 10, 'x');
  End gone(*this, loud_party);
  loud_party.Owe(4 * Turns::kShare);
  ASSERT_GT(::write(gone.peer.get(), much.data(), much.size()), 0);
  (void)loop.RunOnce(std::chrono::milliseconds(0));
  gone.peer.Reset();
  gone.stream.reset();  // perhaps while it stands in line
  while (loop.RunOnce(std::chrono::milliseconds(1))) {
  }
  EXPECT_EQ(closed, flood.size());
}

}  // namespace
}  // namespace beige
