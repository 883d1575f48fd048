#include "tests/http/server_fixture.h"

namespace beige::http_test {
class HttpStreamTest : public ServerFixture {
 protected:
  // Asked for by `client`, which has read the head.
  std::shared_ptr<http::Responder> BeginStream(RawClient& client) {
    client.Send("GET /later HTTP/1.1\r\nHost: t\r\n\r\n");
    const auto responder = later_.Wait();
    if (!responder) return nullptr;
    (*responder)->Begin({});
    client.ReadUntil("\r\n\r\n");
    return *responder;
  }
};
using std::chrono::milliseconds;

TEST_F(HttpStreamTest, EachWriteArrivesAsAChunkAtOnce) {
  Start();
  RawClient client(port());
  client.Send("GET /later HTTP/1.1\r\nHost: t\r\n\r\n");
  auto responder = later_.Wait();
  ASSERT_TRUE(responder);
  (*responder)->Begin({200, "text/event-stream", "", {}});
  EXPECT_NE(client.ReadUntil("\r\n\r\n").find("Transfer-Encoding: chunked"), std::string::npos);
  EXPECT_TRUE((*responder)->Write("data: 1\n\n"));
  EXPECT_EQ(client.ReadUntil("\n\r\n"), "9\r\ndata: 1\n\n\r\n");
  EXPECT_TRUE((*responder)->Write("data: 2\n\n"));
  EXPECT_EQ(client.ReadUntil("\n\r\n"), "9\r\ndata: 2\n\n\r\n");
  (*responder)->End();
  EXPECT_EQ(client.ReadUntil("0\r\n\r\n"), "0\r\n\r\n");
  EXPECT_EQ(client.Get("/echo").status, 200);  // the connection is good for more
}

TEST_F(HttpStreamTest, AStreamThatIsDroppedIsCutNotEnded) {
  Start();
  RawClient client(port());
  client.Send("GET /later HTTP/1.1\r\nHost: t\r\n\r\n");
  {
    auto responder = later_.Wait();
    ASSERT_TRUE(responder);
    (*responder)->Begin({});
    EXPECT_TRUE((*responder)->Write("half"));
  }
  later_.Set(nullptr);
  {
    std::lock_guard lock(mutex_);
    kept_.clear();
  }
  const std::string all = client.ReadAll();
  EXPECT_EQ(all.find("0\r\n\r\n"), std::string::npos);
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpStreamTest, APeerThatLeavesAnIdleStreamIsNoticedAtOnce) {
  Start();
  RawClient client(port());
  client.Send("GET /later HTTP/1.1\r\nHost: t\r\n\r\n");
  auto responder = later_.Wait();
  ASSERT_TRUE(responder);
  Arrival<bool> gone;
  (*responder)->OnGone([&] { gone.Set(true); });
  (*responder)->Begin({});
  client.ReadUntil("\r\n\r\n");
  const auto start = std::chrono::steady_clock::now();
  client.Close();
  ASSERT_TRUE(gone.Wait());
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(500));
  EXPECT_FALSE((*responder)->Write("more"));
}

TEST_F(HttpStreamTest, APeerThatLeavesWithUnreadPipelinedBytesIsNoticed) {
  Start();
  RawClient client(port());
  client.Send("GET /later HTTP/1.1\r\nHost: t\r\n\r\n" + std::string(100000, 'x'));
  auto responder = later_.Wait();
  ASSERT_TRUE(responder);
  Arrival<bool> gone;
  (*responder)->OnGone([&] { gone.Set(true); });
  client.Close();
  EXPECT_TRUE(gone.Wait());
}

TEST_F(HttpStreamTest, OnGoneAfterThePeerHasLeftRunsToo) {
  Start();
  RawClient client(port());
  client.Send("GET /later HTTP/1.1\r\nHost: t\r\n\r\n");
  auto responder = later_.Wait();
  ASSERT_TRUE(responder);
  Arrival<bool> first;
  (*responder)->OnGone([&] { first.Set(true); });
  client.Close();
  ASSERT_TRUE(first.Wait());
  Arrival<bool> second;
  (*responder)->OnGone([&] { second.Set(true); });
  EXPECT_TRUE(second.Wait());
}

TEST_F(HttpStreamTest, AClientThatClosedItsSendingSideStillGetsItsAnswer) {
  Start();
  RawClient client(port());
  client.Send("GET /later HTTP/1.1\r\nHost: t\r\n\r\n");
  client.FinishSending();
  auto responder = later_.Wait();
  ASSERT_TRUE(responder);
  (*responder)->Reply({200, "text/plain", "here", {}});
  EXPECT_EQ(client.ReadAnswer().body, "here");
}

TEST_F(HttpStreamTest, AFloodIsHeldAtTheLimitOfUnsentBytes) {
  http::Limits limits;
  limits.unsent_bytes = 1 << 20;
  Start(limits);
  RawClient client(port());
  client.Send("GET /later HTTP/1.1\r\nHost: t\r\n\r\n");
  auto responder = later_.Wait();
  ASSERT_TRUE(responder);
  (*responder)->Begin({});
  size_t accepted = 0;
  const std::string piece(65536, 'x');
  while (accepted < (256u << 20) && (*responder)->Write(piece)) accepted += piece.size();
  EXPECT_LT(accepted, 64u << 20);  // the limit and the kernel's buffers
  (*responder)->End();
  const std::string head = client.ReadUntil("\r\n\r\n");
  const std::string all = client.ReadUntil("\r\n0\r\n\r\n");
  EXPECT_GT(all.size(), accepted);
  EXPECT_TRUE(all.ends_with("\r\n0\r\n\r\n"));
}

TEST_F(HttpStreamTest, Http10StreamsAreRawAndEndWithTheConnection) {
  Start();
  RawClient client(port());
  client.Send("GET /later HTTP/1.0\r\n\r\n");
  auto responder = later_.Wait();
  ASSERT_TRUE(responder);
  (*responder)->Begin({200, "text/plain", "", {}});
  EXPECT_TRUE((*responder)->Write("abc"));
  (*responder)->End();
  EXPECT_TRUE(client.ReadAll().ends_with("\r\n\r\nabc"));
}

TEST_F(HttpStreamTest, PiecesGoOutByTheirWritersThreadWhileTheServersIsBusy) {
  Start();
  RawClient client(port());
  const auto responder = BeginStream(client);
  ASSERT_TRUE(responder);
  {
    RawClient round(port());  // a whole exchange later the server knows that the head has gone
    round.Send("GET /echo HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
    round.ReadAll();
  }
  std::promise<void> go;
  unblocked_ = go.get_future();
  RawClient other(port());
  other.Send("GET /block HTTP/1.1\r\nHost: t\r\n\r\n");
  ASSERT_TRUE(blocking_.Wait());
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(responder->Write(std::to_string(i)));
    EXPECT_EQ(client.ReadUntil("1\r\n" + std::to_string(i) + "\r\n").size(), 6u);
  }
  EXPECT_EQ(responder->unsent(), 0u);
  responder->End();
  go.set_value();
  EXPECT_EQ(client.ReadUntil("0\r\n\r\n"), "0\r\n\r\n");
  client.Send("GET /echo HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_NE(client.ReadUntil("GET /echo").find("200"), std::string::npos) << "the connection goes on";
}

TEST_F(HttpStreamTest, WhatAFullKernelDoesNotTakeComesLaterInOrder) {
  Start();
  RawClient client(port());
  const auto responder = BeginStream(client);
  ASSERT_TRUE(responder);
  std::string want;
  for (int i = 0; responder->unsent() < (1u << 20); ++i) {
    const std::string piece(40'000, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(responder->Write(piece));
    want += piece;
    ASSERT_LT(want.size(), 64u << 20) << "the kernel takes everything";
  }
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i) {
      while (responder->unsent() > (2u << 20)) std::this_thread::yield();
      const std::string piece(5000, static_cast<char>('A' + i % 26));
      EXPECT_TRUE(responder->Write(piece));
      want += piece;
    }
    responder->End();
  });
  const std::string raw = client.ReadUntil("\r\n0\r\n\r\n");
  writer.join();
  std::string got;
  for (size_t at = 0; at < raw.size();) {
    const size_t size = std::stoul(raw.substr(at, 20), nullptr, 16);
    at = raw.find("\r\n", at) + 2;
    got += raw.substr(at, size);
    at += size + 2;
  }
  EXPECT_TRUE(got == want) << got.size() << " of " << want.size();
}

}  // namespace beige::http_test
