#include "runtime/engine/http.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "base/guarded.h"
#include "runtime/docker/docker_runtime.h"
#include "tests/runtime/scripted_engine.h"

namespace beige::runtime::engine {

namespace {

using std::chrono::milliseconds;

HttpOptions On(const std::string& socket) {
  HttpOptions options;
  options.socket = socket;
  options.start_hint = "start it";
  return options;
}

bool IsPing(const SeenRequest& request) { return request.line.starts_with("GET /_ping "); }

// Answers /_ping with 1.41 and anything else with `answer`.
ScriptedEngine::Script Always(std::string answer) {
  return [answer = std::move(answer)](const SeenRequest& request) { return IsPing(request) ? ScriptedEngine::Pong("1.41") : answer; };
}

Call Get(const std::string& path) { return Call{.operation = "test", .path = path, .deadline = milliseconds(10'000)}; }

}  // namespace

TEST(EngineHttpTest, SpeaksTheSmallerOfTheTwoNewestVersions) {
  for (const auto& [offered, spoken] : std::vector<std::pair<std::string, std::string>>{{"1.41", "1.41"}, {"1.45", "1.45"}, {"1.51", "1.51"}, {"1.60", "1.51"}, {"2.0", "1.51"}}) {
    ScriptedEngine engine([o = offered](const SeenRequest& request) { return IsPing(request) ? ScriptedEngine::Pong(o) : ScriptedEngine::Answer(200, "[]"); });
    EngineHttp http(On(engine.socket()));
    ASSERT_TRUE(http.Request(Get("/containers/json")).has_value());
    EXPECT_EQ(engine.Requests().back().line, "GET /v" + spoken + "/containers/json HTTP/1.1");
  }
}

TEST(EngineHttpTest, RefusesAnEngineThatIsTooOldOrDoesNotSayItsVersion) {
  ScriptedEngine old([](const SeenRequest&) { return ScriptedEngine::Pong("1.40"); });
  EngineHttp http(On(old.socket()));
  auto answer = http.Request(Get("/x"));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::kUnavailable);
  EXPECT_NE(answer.error().message.find("1.40, which is too old: want 1.41 or newer"), std::string::npos) << answer.error().message;
  ScriptedEngine mute([](const SeenRequest&) { return ScriptedEngine::Answer(200, "OK"); });
  EngineHttp other(On(mute.socket()));
  answer = other.Request(Get("/x"));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::kUnavailable);
}

TEST(EngineHttpTest, NegotiatesAgainWhenAnotherEngineTookTheSocketOver) {
  std::atomic<bool> replaced = false;
  ScriptedEngine engine([&](const SeenRequest& request) {
    if (IsPing(request)) return ScriptedEngine::Pong(replaced ? "1.43" : "1.51");
    if (request.line.find("/v1.51/") != std::string::npos && replaced) {
      return ScriptedEngine::Answer(400, R"({"message":"client version 1.51 is too new. Maximum supported API version is 1.43"})");
    }
    return ScriptedEngine::Answer(200, "{}");
  });
  EngineHttp http(On(engine.socket()));
  ASSERT_TRUE(http.Request(Get("/a")).has_value());
  replaced = true;
  const auto answer = http.Request(Get("/b"));
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(engine.Requests().back().line, "GET /v1.43/b HTTP/1.1");
}

TEST(EngineHttpTest, StatusBecomesACodeAndTheEnginesWordsStay) {
  const std::vector<std::tuple<int, std::string, Code>> cases{
      {400, R"({"message":"bad parameter"})", Code::kInvalid},
      {401, R"({"message":"unauthorized"})", Code::kDenied},
      {403, R"({"message":"network has active endpoints"})", Code::kDenied},
      {404, R"({"message":"No such container: x"})", Code::kNotFound},
      {409, R"({"message":"Conflict. The container name \"/x\" is already in use"})", Code::kConflict},
      {500, R"({"cause":"name in use","message":"creating container storage: the container name \"x\" is already in use by 1","response":500})", Code::kConflict},
      {500, R"({"message":"boom"})", Code::kInternal},
      {503, "plain words", Code::kUnavailable},
  };
  for (const auto& [status, body, code] : cases) {
    ScriptedEngine engine(Always(ScriptedEngine::Answer(status, body)));
    EngineHttp http(On(engine.socket()));
    const auto answer = http.Request(Get("/x"));
    ASSERT_FALSE(answer.has_value()) << body;
    EXPECT_EQ(answer.error().code, code) << body;
    const bool words = body.find(answer.error().message) != std::string::npos || answer.error().message.find("in use") != std::string::npos;
    EXPECT_TRUE(words) << answer.error().message;
  }
}

TEST(EngineHttpTest, NotModifiedIsAnAnswer) {
  ScriptedEngine engine(Always("HTTP/1.1 304 Not Modified\r\n\r\n"));
  EngineHttp http(On(engine.socket()));
  const auto answer = http.Request("POST", "/containers/x/start", "", milliseconds(5'000));
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->status, 304);
}

TEST(EngineHttpTest, EngineThatIsNotThereIsUnavailableAndTheTextSaysWhatToDo) {
  TempDir dir;
  EngineHttp http(On(dir / "docker.sock"));
  const auto answer = http.Request(Get("/x"));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::kUnavailable);
  EXPECT_EQ(answer.error().message, "docker at " + (dir / "docker.sock") + " does not answer: No such file or directory; start it or set engine.socket");
}

TEST(EngineHttpTest, SocketPathThatIsTooLongIsInvalid) {
  EngineHttp http(On("/" + std::string(120, 'x')));
  const auto answer = http.Request(Get("/x"));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::kInvalid) << answer.error().message;
}

TEST(EngineHttpTest, EngineThatAcceptsAndNeverAnswersIsATimeout) {
  ScriptedEngine engine([](const SeenRequest&) { return ScriptedEngine::kSilence; });
  HttpOptions options = On(engine.socket());
  options.ping_deadline = milliseconds(150);
  EngineHttp http(options);
  const auto answer = http.Request(Get("/x"));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::kTimeout);
  EXPECT_NE(answer.error().message.find("150ms"), std::string::npos) << answer.error().message;
}

TEST(EngineHttpTest, HungEngineIsATimeoutForTheRuntimeToo) {
  ScriptedEngine engine(Always(ScriptedEngine::kSilence));
  const auto runtime = docker::MakeDockerRuntime({.socket = engine.socket(), .observer = nullptr, .deadline = milliseconds(150), .start_deadline = milliseconds(150)});
  EXPECT_EQ(runtime->List("h").error().code, Code::kTimeout);
  EXPECT_EQ(runtime->Start("x").error().code, Code::kTimeout);
  EXPECT_EQ(runtime->Remove("x").error().code, Code::kTimeout);
}

TEST(EngineHttpTest, AnswerThatIsNotJsonIsAnInternalErrorNotACrash) {
  for (const char* body : {"", "x", "[", "{}", "null", "[1,2]", "{\"Id\":7}", "\"text\""}) {
    ScriptedEngine engine(Always(ScriptedEngine::Answer(200, body)));
    const auto runtime = docker::MakeDockerRuntime({.socket = engine.socket(), .observer = nullptr});
    EXPECT_FALSE(runtime->Observe("x").has_value()) << body;
    EXPECT_FALSE(runtime->FindImage("x").has_value()) << body;
    EXPECT_FALSE(runtime->Ping().has_value()) << body;
  }
}

TEST(EngineHttpTest, AnswerBeyondTheBoundIsRefused) {
  ScriptedEngine engine(Always(ScriptedEngine::Answer(200, std::string(2048, 'x'))));
  EngineHttp http(On(engine.socket()));
  Call call = Get("/x");
  call.max_body = 1024;
  const auto answer = http.Request(call);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::kInternal);
  EXPECT_NE(answer.error().message.find("larger than 1024 bytes"), std::string::npos) << answer.error().message;
}

TEST(EngineHttpTest, ConnectionThatBreaksInTheBodyIsUnavailable) {
  ScriptedEngine engine([](const SeenRequest& request) {
    return IsPing(request) ? ScriptedEngine::Pong("1.41") : std::string("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\nhalf");
  });
  EngineHttp http(On(engine.socket()));
  auto pending = std::async(std::launch::async, [&] { return http.Request(Get("/x")); });
  ASSERT_TRUE(engine.WaitForRequests(2));
  while (pending.wait_for(milliseconds(10)) != std::future_status::ready) engine.DropConnections();
  const auto answer = pending.get();
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::kUnavailable) << answer.error().message;
}

TEST(EngineHttpTest, ConnectionIsUsedAgain) {
  ScriptedEngine engine(Always(ScriptedEngine::Answer(200, "{}")));
  EngineHttp http(On(engine.socket()));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(http.Request(Get("/x")).has_value());
  EXPECT_EQ(engine.Connections(), 1);
}

TEST(EngineHttpTest, StaleConnectionIsReplacedWithoutAnError) {
  ScriptedEngine engine(Always(ScriptedEngine::Answer(200, "{}")));
  EngineHttp http(On(engine.socket()));
  for (int i = 0; i < 5; ++i) {
    const auto answer = http.Request(Get("/x"));
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    engine.DropConnections();
  }
}

TEST(EngineHttpTest, ProxyOfTheEnvironmentIsNotAsked) {
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
  ScriptedEngine engine(Always(ScriptedEngine::Answer(200, "{}")));
  EngineHttp http(On(engine.socket()));
  EXPECT_TRUE(http.Request(Get("/x")).has_value());
  unsetenv("http_proxy");
  unsetenv("ALL_PROXY");
}

TEST(EngineHttpTest, ManyThreadsShareOneClient) {
  ScriptedEngine engine([](const SeenRequest& request) { return IsPing(request) ? ScriptedEngine::Pong("1.41") : ScriptedEngine::Answer(200, request.line); });
  EngineHttp http(On(engine.socket()));
  std::vector<std::future<bool>> all;
  for (int t = 0; t < 8; ++t) {
    all.push_back(std::async(std::launch::async, [&, t] {
      for (int i = 0; i < 25; ++i) {
        const std::string path = "/" + std::to_string(t) + "/" + std::to_string(i);
        const auto answer = http.Request(Get(path));
        if (!answer || answer->body != "GET /v1.41" + path + " HTTP/1.1") return false;
      }
      return true;
    }));
  }
  for (auto& one : all) EXPECT_TRUE(one.get());
}

TEST(EngineHttpTest, ObserverIsToldOperationStatusAndTime) {
  Guarded<std::vector<std::string>> told;
  ScriptedEngine engine(Always(ScriptedEngine::Answer(404, "{}")));
  HttpOptions options = On(engine.socket());
  options.observer = [&](std::string_view operation, std::string_view code, double seconds) {
    EXPECT_GE(seconds, 0);
    told.With([&](auto& list) { list.push_back(std::string(operation) + " " + std::string(code)); });
  };
  EngineHttp http(options);
  (void)http.Request(Get("/x"));
  EXPECT_EQ(told.Copy(), (std::vector<std::string>{"ping 200", "test 404"}));
  TempDir dir;
  options.socket = dir / "none.sock";
  EngineHttp away(options);
  (void)away.Request(Get("/x"));
  EXPECT_EQ(told.Copy().back(), "ping Unavailable");
}

TEST(EngineHttpTest, FileIsSentWholeAsTheBody) {
  TempDir dir;
  const std::string content(3'000'000, 'z');
  const std::string path = dir.Write("image.tar", content);
  std::atomic<size_t> length = 0;
  ScriptedEngine engine([&](const SeenRequest& request) {
    if (IsPing(request)) return ScriptedEngine::Pong("1.41");
    length = request.body.size();
    EXPECT_NE(request.head.find("Content-Type: application/x-tar"), std::string::npos) << request.head;
    EXPECT_EQ(request.head.find("Expect"), std::string::npos) << request.head;
    return ScriptedEngine::Answer(200, "{}");
  });
  EngineHttp http(On(engine.socket()));
  Call call = Get("/images/load");
  call.method = "POST";
  call.upload = path;
  ASSERT_TRUE(http.Request(call).has_value());
  EXPECT_EQ(length, content.size());
}

TEST(EngineHttpTest, StreamGivesChunksToTheCallerAndStopsWhenItRefuses) {
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "0123456789012345678901234567890\n";  // 3.2 MB, more than the client holds at once
  ScriptedEngine engine(Always(ScriptedEngine::Answer(200, many)));
  EngineHttp http(On(engine.socket()));
  const auto caller = std::this_thread::get_id();
  std::string got;
  const auto read = http.Stream(Get("/x"), [&](std::string_view bytes) -> Result<> {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    got += bytes;
    return {};
  });
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(got, many);
  const auto refused = http.Stream(Get("/x"), [](std::string_view) -> Result<> { return Fail(Code::kExhausted, "enough"); });
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error(), (Error{Code::kExhausted, "enough"}));
}

TEST(EngineHttpTest, StreamThatFallsSilentIsATimeout) {
  ScriptedEngine engine(Always("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"status\":\"begun\"}\n"));
  EngineHttp http(On(engine.socket()));
  Call call = Get("/x");
  call.deadline = milliseconds(0);
  call.idle = milliseconds(1'000);
  const auto read = http.Stream(call, [](std::string_view) { return Result<>(); });
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, Code::kTimeout);
}

TEST(EngineHttpTest, ErrorStatusOfAStreamCarriesTheEnginesWords) {
  ScriptedEngine engine(Always(ScriptedEngine::Answer(404, R"({"message":"pull access denied for x"})")));
  EngineHttp http(On(engine.socket()));
  const auto read = http.Stream(Get("/x"), [](std::string_view) -> Result<> { return Fail(Code::kInternal, "must not be called"); });
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error(), (Error{Code::kNotFound, "pull access denied for x"}));
}

TEST(EngineHttpTest, ClientThatGoesAwayEndsWhatIsInFlight) {
  ScriptedEngine engine(Always(ScriptedEngine::kSilence));
  std::promise<Outcome> ended;
  {
    CurlLoop loop;
    Transfer transfer;
    transfer.socket = engine.socket();
    transfer.url = "http://engine/x";
    transfer.on_done = [&](const Outcome& outcome) { ended.set_value(outcome); };
    loop.Start(std::move(transfer));
    ASSERT_TRUE(engine.WaitForRequests(1));
  }
  EXPECT_EQ(ended.get_future().get().ended, Ended::kStopped);
}

}  // namespace beige::runtime::engine
