#include "tests/http/server_fixture.h"

namespace beige::http_test {
using HttpServerTest = ServerFixture;

TEST_F(HttpServerTest, AnswersAndKeepsTheConnection) {
  Start();
  RawClient client(port());
  const auto first = client.Get("/echo?a=1");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body, "GET /echo?a=1 ");
  EXPECT_NE(first.head.find("Connection: keep-alive"), std::string::npos);
  EXPECT_EQ(client.Get("/echo").status, 200);
}

TEST_F(HttpServerTest, PassesBodiesOfEitherFraming) {
  Start();
  RawClient client(port());
  client.Send("POST /p HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(client.ReadAnswer().body, "POST /p? hello");
  client.Send("POST /p HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(client.ReadAnswer().body, "POST /p? abcde");
}

TEST_F(HttpServerTest, ARequestThatComesByteForByteIsServed) {
  Start();
  RawClient client(port());
  for (const char c : std::string("POST /slow HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\nok")) client.Send(std::string_view(&c, 1));
  EXPECT_EQ(client.ReadAnswer().body, "POST /slow? ok");
}

TEST_F(HttpServerTest, PipelinedRequestsAreAnsweredInOrder) {
  Start();
  RawClient client(port());
  std::string burst;
  for (int i = 0; i < 200; ++i) burst += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: t\r\n\r\n";
  client.Send(burst);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(client.ReadAnswer().body, "GET /" + std::to_string(i) + "? ");
}

TEST_F(HttpServerTest, APipelinedRequestWaitsForALateAnswer) {
  Start();
  RawClient client(port());
  client.Send("GET /later HTTP/1.1\r\nHost: t\r\n\r\nGET /second HTTP/1.1\r\nHost: t\r\n\r\n");
  auto responder = later_.Wait();
  ASSERT_TRUE(responder);
  (*responder)->Reply({200, "text/plain", "first", {}});
  EXPECT_EQ(client.ReadAnswer().body, "first");
  EXPECT_EQ(client.ReadAnswer().body, "GET /second? ");
}

TEST_F(HttpServerTest, HeadHasTheLengthButNoBody) {
  Start();
  RawClient client(port());
  client.Send("HEAD /h HTTP/1.1\r\nHost: t\r\n\r\nGET /g HTTP/1.1\r\nHost: t\r\n\r\n");
  const std::string head = client.ReadUntil("\r\n\r\n");
  EXPECT_NE(head.find("Content-Length: 9\r\n"), std::string::npos) << head;
  EXPECT_EQ(client.ReadAnswer().body, "GET /g? ");
}

TEST_F(HttpServerTest, ExpectContinueIsAnsweredBeforeTheBody) {
  Start();
  RawClient client(port());
  client.Send("POST /e HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("body");
  EXPECT_EQ(client.ReadAnswer().body, "POST /e? body");
}

TEST_F(HttpServerTest, AnUnknownExpectationIs417) {
  Start();
  RawClient client(port());
  client.Send("POST /e HTTP/1.1\r\nHost: t\r\nExpect: miracles\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(client.ReadAnswer().status, 417);
}

TEST_F(HttpServerTest, Http10GetsOneAnswerAndTheEndOfTheStream) {
  Start();
  RawClient client(port());
  client.Send("GET /old HTTP/1.0\r\n\r\n");
  const std::string all = client.ReadAll();
  EXPECT_NE(all.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(all.ends_with("GET /old? "));
}

TEST_F(HttpServerTest, AThrowingHandlerIs500AndTheServerLives) {
  Start();
  RawClient client(port());
  const auto answer = client.Get("/throw");
  EXPECT_EQ(answer.status, 500);
  EXPECT_NE(answer.body.find("\"code\":\"Internal\""), std::string::npos);
  EXPECT_EQ(client.Get("/echo").status, 200);
}

TEST_F(HttpServerTest, AForgottenResponderIs500) {
  Start();
  RawClient client(port());
  EXPECT_EQ(client.Get("/forget").status, 500);
}

TEST_F(HttpServerTest, AnswersComeFromAnyThread) {
  Start();
  wanted_ = 8;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<RawClient>(port()));
    clients.back()->Send("GET /later/" + std::to_string(i) + " HTTP/1.1\r\nHost: t\r\n\r\n");
  }
  ASSERT_TRUE(all_kept_.Wait());
  std::vector<std::thread> threads;
  for (auto& [path, responder] : kept_) threads.emplace_back([r = responder, p = path] { r->Reply({200, "text/plain", p, {}}); });
  for (auto& thread : threads) thread.join();
  kept_.clear();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(clients[static_cast<size_t>(i)]->ReadAnswer().body, "/later/" + std::to_string(i));
}

// The server's own thread may be the last to let go of a responder that another thread has answered.
TEST_F(HttpServerTest, AnAnswerFromAnotherThreadIsNeverTakenForAForgottenOne) {
  Start();
  RawClient client(port());
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(client.Get("/elsewhere").status, 200) << i;
}

TEST_F(HttpServerTest, ATakenPortIsAConflictThatNamesIt) {
  Start();
  const auto second = http::Server::Start("127.0.0.1", port(), {}, [](http::Request, std::shared_ptr<http::Responder>) {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_NE(second.error().message.find("127.0.0.1:" + std::to_string(port()) + " is already in use"), std::string::npos);
}

TEST_F(HttpServerTest, StoppingLetsAnAnswerInFlightFinish) {
  Start();
  RawClient client(port());
  client.Send("GET /later HTTP/1.1\r\nHost: t\r\n\r\n");
  auto responder = later_.Wait();
  ASSERT_TRUE(responder);
  const uint16_t closing = port();
  std::thread stopper([this] { server_.reset(); });
  // The listener closes first; then the answer is given.
  while (RawClient(closing).connected()) std::this_thread::yield();
  (*responder)->Reply({200, "text/plain", "done", {}});
  EXPECT_EQ(client.ReadAnswer().body, "done");
  stopper.join();
}

TEST_F(HttpServerTest, StoppingDoesNotWaitLongerThanItsGraceForAnAnswerThatNeverComes) {
  Start();
  RawClient client(port());
  client.Send("GET /later HTTP/1.1\r\nHost: t\r\n\r\n");
  ASSERT_TRUE(later_.Wait());
  const auto start = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
  EXPECT_EQ(client.ReadAll(), "");
  (*later_.Wait())->Reply({});  // after the end: nothing happens
}

}  // namespace beige::http_test
