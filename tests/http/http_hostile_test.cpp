// What is sent by accident or in malice: refused or bounded, and the server goes on (measured on a peer: some of these end its process).
#include <fstream>

#include "tests/http/server_fixture.h"

namespace beige::http_test {
namespace {
using std::chrono::milliseconds;

size_t ResidentKib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  }
  return 0;
}
}  // namespace

using HttpHostileTest = ServerFixture;

struct BadRequest {
  const char* name;
  std::string bytes;
  int status;
};

class HttpMalformedTest : public ServerFixture, public ::testing::WithParamInterface<BadRequest> {};

TEST_P(HttpMalformedTest, IsRefusedWithAJsonErrorAndTheServerLives) {
  Start();
  RawClient client(port());
  client.Send(GetParam().bytes);
  const auto answer = client.ReadAnswer();
  EXPECT_EQ(answer.status, GetParam().status) << answer.body;
  EXPECT_TRUE(answer.body.starts_with("{\"error\":{\"code\":")) << answer.body;
  EXPECT_EQ(client.ReadAll(), "");
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(RawClient(port()).Get("/echo").status, 200);
}

const std::string kPost = "POST / HTTP/1.1\r\nHost: t\r\n";
INSTANTIATE_TEST_SUITE_P(
    Requests, HttpMalformedTest,
    ::testing::Values(BadRequest{"ChunkSizeMinusOne", kPost + "Transfer-Encoding: chunked\r\n\r\n-1\r\nab\r\n0\r\n\r\n", 400},
                      BadRequest{"ChunkSizeMinusTwo", kPost + "Transfer-Encoding: chunked\r\n\r\n-2\r\nab\r\n0\r\n\r\n", 400},
                      BadRequest{"ChunkSizeNotANumber", kPost + "Transfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n", 400},
                      BadRequest{"HugeChunk", kPost + "Transfer-Encoding: chunked\r\n\r\n7fffffff\r\nab", 413},
                      BadRequest{"ChunkSizeOverflow", kPost + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nab", 400},
                      BadRequest{"LengthAndChunked", kPost + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
                      BadRequest{"ChunkedAndLength", kPost + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400},
                      BadRequest{"TwoLengths", kPost + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400},
                      BadRequest{"TwoEqualLengths", kPost + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400},
                      BadRequest{"NegativeLength", kPost + "Content-Length: -3\r\n\r\nabc", 400},
                      BadRequest{"SignedLength", kPost + "Content-Length: +3\r\n\r\nabc", 400},
                      BadRequest{"OverflowingLength", kPost + "Content-Length: 99999999999999999999999\r\n\r\nabc", 400},
                      BadRequest{"LargeLength", kPost + "Content-Length: 9999999999\r\n\r\nabc", 413},
                      BadRequest{"OtherTransferEncoding", kPost + "Transfer-Encoding: gzip\r\n\r\nabc", 501},
                      BadRequest{"ChunkedTwice", kPost + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
                      BadRequest{"SpaceBeforeColon", kPost + "Content-Length : 3\r\n\r\nabc", 400},
                      BadRequest{"NoHost", "GET / HTTP/1.1\r\n\r\n", 400},
                      BadRequest{"TwoHosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
                      BadRequest{"AbsoluteTarget", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
                      BadRequest{"UnknownVersion", "GET / HTTP/3.7\r\nHost: a\r\n\r\n", 400},
                      BadRequest{"NotHttp", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15), 400},
                      BadRequest{"NulInHeader", std::string("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", 30), 400},
                      BadRequest{"NewlineOnly", "GET / HTTP/1.1\nHost: a\n\n\r\n\r\n", 400}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(HttpHostileTest, AnEndlessHeaderIsCutAtItsLimit) {
  Start();
  RawClient client(port());
  client.Send("GET / HTTP/1.1\r\nHost: t\r\n");
  size_t sent = 0;
  while (sent < (4u << 20) && client.Send("X-Filler: " + std::string(1000, 'x') + "\r\n")) sent += 1012;
  EXPECT_EQ(client.ReadAnswer().status, 431);
  EXPECT_LT(sent, 4u << 20);
}

TEST_F(HttpHostileTest, AnEndlessChunkExtensionIsCut) {
  Start();
  RawClient client(port());
  client.Send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n1;");
  size_t sent = 0;
  while (sent < (4u << 20) && client.Send(std::string(1000, 'x'))) sent += 1000;
  EXPECT_LT(sent, 4u << 20);
  EXPECT_EQ(RawClient(port()).Get("/echo").status, 200);
}

TEST_F(HttpHostileTest, AnEndlessTrailerIsCut) {
  Start();
  RawClient client(port());
  client.Send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n");
  size_t sent = 0;
  while (sent < (4u << 20) && client.Send("X-Filler: " + std::string(1000, 'x') + "\r\n")) sent += 1012;
  EXPECT_LT(sent, 4u << 20);
  EXPECT_EQ(RawClient(port()).Get("/echo").status, 200);
}

TEST_F(HttpHostileTest, ALargeBodyIsRefusedBeforeItComes) {
  Start();
  RawClient client(port());
  client.Send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 200000000\r\n\r\n");
  const auto answer = client.ReadAnswer();
  EXPECT_EQ(answer.status, 413);
  EXPECT_NE(answer.body.find("limit of 2097152 bytes"), std::string::npos) << answer.body;
}

TEST_F(HttpHostileTest, ALargeBodyIsRefusedAndNotInvitedByContinue) {
  Start();
  RawClient client(port());
  client.Send("POST / HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 200000000\r\n\r\n");
  EXPECT_EQ(client.ReadAnswer().status, 413);
}

TEST_F(HttpHostileTest, AChunkedBodyWithoutEndStaysSmallInMemory) {
  Start();
  const size_t before = ResidentKib();
  RawClient client(port());
  client.Send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  size_t sent = 0;
  while (sent < (300u << 20) && client.Send(chunk)) sent += chunk.size();
  EXPECT_LT(sent, 32u << 20);
  EXPECT_LT(ResidentKib(), before + (16u << 10));
}

TEST_F(HttpHostileTest, SlowClientsAreClosedByTheTimerOfTheWholeRequest) {
  http::Limits limits;
  limits.request_timeout = milliseconds(300);
  Start(limits);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(std::make_unique<RawClient>(port()));
    clients.back()->Send("GET / HTTP/1.1\r\nHost: t\r\nX-Slow: ");
  }
  // One keeps dripping bytes: the timer is not reset by them.
  while (clients[0]->Send("x")) {
    pollfd p{clients[0]->fd(), POLLIN, 0};
    if (::poll(&p, 1, 20) > 0) break;
  }
  for (auto& client : clients) EXPECT_EQ(client->ReadAnswer().status, 408);
  EXPECT_EQ(RawClient(port()).Get("/echo").status, 200);
}

TEST_F(HttpHostileTest, ASilentConnectionIsClosed) {
  http::Limits limits;
  limits.request_timeout = milliseconds(100);
  Start(limits);
  RawClient client(port());
  EXPECT_EQ(client.ReadAll(), "");
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpHostileTest, AnIdleKeptConnectionIsClosedAfterItsOwnTime) {
  http::Limits limits;
  limits.idle_timeout = milliseconds(100);
  Start(limits);
  RawClient client(port());
  EXPECT_EQ(client.Get("/echo").status, 200);
  EXPECT_EQ(client.ReadAll(), "");
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpHostileTest, BeyondTheCapAConnectionWaitsUntilAnotherLeaves) {
  http::Limits limits;
  limits.connections = 2;
  Start(limits);
  RawClient first(port());
  RawClient second(port());
  EXPECT_EQ(first.Get("/echo").status, 200);
  EXPECT_EQ(second.Get("/echo").status, 200);
  RawClient third(port());  // the kernel's backlog takes it
  third.Send("GET /third HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(third.ReadAnswer(milliseconds(200)).status, 0);
  first.Close();
  EXPECT_EQ(third.ReadAnswer().status, 200);
}

TEST_F(HttpHostileTest, AReaderThatNeverReadsIsClosed) {
  http::Limits limits;
  limits.request_timeout = milliseconds(300);
  Start(limits);
  RawClient client(port());
  client.Send("GET /later HTTP/1.1\r\nHost: t\r\n\r\n");
  auto responder = later_.Wait();
  ASSERT_TRUE(responder);
  (*responder)->Reply({200, "text/plain", std::string(64u << 20, 'x'), {}});
  // When the server has given up, the peer sees the end before all of it has come.
  pollfd p{client.fd(), POLLRDHUP, 0};
  ASSERT_GT(::poll(&p, 1, 10000), 0);
  EXPECT_LT(client.ReadAll().size(), 64u << 20);
}

TEST_F(HttpHostileTest, ARequestsOwnLimitCountsForBothKindsOfBody) {
  http::Limits limits;
  limits.body_bytes = 4;
  limits.body_limit = [](const http::Request& head) -> size_t { return head.path == "/large" && head.Header("x-trusted") == "yes" ? 8 : 4; };
  Start(limits);
  const auto ask = [&](const std::string& path, const std::string& headers, const std::string& body) {
    RawClient client(port());
    client.Send("POST " + path + " HTTP/1.1\r\nHost: t\r\n" + headers + "\r\n" + body);
    return client.ReadAnswer().status;
  };
  for (const auto& [path, trusted, bytes, status] : {std::tuple{"/large", true, 8, 200}, std::tuple{"/large", true, 9, 413}, std::tuple{"/large", false, 5, 413},
                                                     std::tuple{"/echo", true, 5, 413}, std::tuple{"/echo", false, 4, 200}}) {
    const std::string header = trusted ? "X-Trusted: yes\r\n" : "";
    const std::string body(static_cast<size_t>(bytes), 'b');
    EXPECT_EQ(ask(path, header + "Content-Length: " + std::to_string(bytes) + "\r\n", body), status) << path << bytes;
    EXPECT_EQ(ask(path, header + "Transfer-Encoding: chunked\r\n", std::to_string(bytes) + "\r\n" + body + "\r\n0\r\n\r\n"), status) << path << bytes << " chunked";
  }
}

}  // namespace beige::http_test
