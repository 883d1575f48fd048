#include "gateway/control/control_point.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/files.h"
#include "base/random.h"
#include "base/spawn.h"
#include "tests/gateway/core/client.h"
#include "tests/gateway/core/core.h"
#include "tests/gateway/core/sandbox.h"

namespace beige::testing {
namespace {
using nlohmann::json;

// A control point on a loop of its own thread, with peers played by the test (the pid test is for real sandboxes below).
class ControlPointTest : public ::testing::Test, public ControlEvents {
 protected:
  void SetUp() override { Up(); }
  void TearDown() override { Down(); }  // before the destructor, as the loop's thread calls this object

  void Up() {
    loop_ = std::make_unique<Loop>();
    ControlOptions options;
    options.check_peer = [](int) { return Result<>(); };
    options.probe_every = std::chrono::milliseconds(50);
    options.probe_within = std::chrono::milliseconds(500);
    options.silence = std::chrono::milliseconds(400);
    options.hello_within = std::chrono::milliseconds(300);
    auto point = ControlPoint::Open(*loop_, batch_, clock_, dir_ / "control.sock", dir_ / "key.json", this, options);
    ASSERT_TRUE(point) << point.error().message;
    point_ = std::move(*point);
    thread_ = std::thread([this] { loop_->Run(); });
  }
  void Down() {
    On([this] { point_.reset(); });
    loop_->Stop();
    thread_.join();
    loop_.reset();
  }
  void On(const std::function<void()>& fn) {
    std::promise<void> done;
    loop_->Post([&] {
      fn();
      done.set_value();
    });
    done.get_future().wait();
  }
  void Announce(const std::string& instance) {
    On([&] { EXPECT_TRUE(point_->Announce(instance)); });
  }
  std::unique_ptr<V2Client> Hello(char key, const std::string& instance) {
    auto peer = std::make_unique<V2Client>(dir_ / "control.sock", BGE_ROLE_CONTROL);
    std::string fields;
    v2::AppendField(fields, BGE_TAG_KEY, std::string(32, key));
    v2::AppendField(fields, BGE_TAG_INSTANCE, instance);
    peer->Send(0, BGE_HELLO, fields);
    return peer;
  }
  static std::string Answer(V2Client& peer) {
    const auto frame = peer.Next();
    if (!frame) return "closed";
    return frame->header.kind == BGE_REGISTERED ? "registered" : frame->payload;
  }
  int Count(const std::string& event) {
    return static_cast<int>(events_.With([&](const auto& events) { return std::count(events.begin(), events.end(), event); }));
  }

  void OnRegistered(const std::string& instance, const std::string&) override { Told("registered " + instance); }
  void OnLost() override { Told("lost"); }
  void OnRoundTrip(bool ok, int64_t, const std::string& message) override { Told(ok ? "round trip" : "no round trip: " + message); }
  void OnStrangers(int64_t, const std::string&) override { Told("strangers"); }
  void ExpectProbe(const std::string& nonce, std::function<void()> seen) override {
    nonce_.Set(nonce);
    if (link_sees_) seen();
  }
  void Told(const std::string& event) {
    events_.With([&](auto& events) { events.push_back(event); });
  }

  TempDir dir_;
  RealClock clock_;
  WriteBatch batch_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<ControlPoint> point_;
  std::thread thread_;
  Guarded<std::vector<std::string>> events_;
  Guarded<std::string> nonce_;
  std::atomic<bool> link_sees_{true};
};

TEST_F(ControlPointTest, NobodyRegistersBeforeAStartIsAnnounced) {
  EXPECT_NE(Answer(*Hello('a', "i1")).find("only an announced start opens it"), std::string::npos);
  EXPECT_TRUE(Eventually([&] { return Count("strangers") == 1; }));
}

TEST_F(ControlPointTest, TheFirstHelloOfAWindowRegistersAndASecondClaimantIsRefused) {
  Announce("i1");
  const auto first = Hello('a', "i1");
  EXPECT_EQ(Answer(*first), "registered");
  EXPECT_EQ(Count("registered i1"), 1);
  EXPECT_NE(Answer(*Hello('b', "i1")).find("belongs to another process"), std::string::npos);
  EXPECT_EQ(Count("lost"), 0) << "the holder keeps its channel";
}

TEST_F(ControlPointTest, StrangersAreToldAtMostOnceASecond) {
  for (int i = 0; i < 50; ++i) (void)Answer(*Hello('x', ""));
  EXPECT_GE(Count("strangers"), 1);
  EXPECT_LE(Count("strangers"), 3);
}

TEST_F(ControlPointTest, OnlyTheSameKeyMayComeBack) {
  Announce("i1");
  {
    const auto first = Hello('a', "i1");
    EXPECT_EQ(Answer(*first), "registered");
  }
  EXPECT_TRUE(Eventually([&] { return Count("lost") == 1; }));
  EXPECT_NE(Answer(*Hello('b', "i1")), "registered");
  EXPECT_EQ(Answer(*Hello('a', "i1")), "registered");
}

TEST_F(ControlPointTest, TheKeyOutlivesARestartOfTheGateway) {
  Announce("i1");
  EXPECT_EQ(Answer(*Hello('a', "i1")), "registered");
  Down();
  Up();
  EXPECT_NE(Answer(*Hello('b', "i1")), "registered");
  EXPECT_EQ(Answer(*Hello('a', "i1")), "registered");
  const auto file = ReadFile(dir_ / "key.json");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->find(std::string(32, 'a')), std::string::npos) << "the key itself is nowhere on disk";
}

TEST_F(ControlPointTest, AnOpenWindowOutlivesARestartToo) {
  Announce("i1");
  Down();
  Up();
  EXPECT_EQ(Answer(*Hello('a', "i1")), "registered");
}

TEST_F(ControlPointTest, AnAnnouncementEndsTheOldHolderAndItsKey) {
  Announce("i1");
  const auto old = Hello('a', "i1");
  EXPECT_EQ(Answer(*old), "registered");
  Announce("i2");
  EXPECT_TRUE(Eventually([&] { return Count("lost") == 1; }));
  EXPECT_NE(Answer(*Hello('a', "i1")).find("was not announced"), std::string::npos);
  EXPECT_EQ(Answer(*Hello('b', "i2")), "registered");
  EXPECT_NE(Answer(*Hello('a', "i1")), "registered");
}

TEST_F(ControlPointTest, AStartThatNobodyAnnouncedStaysOutAlsoWhenTheGatewayRestarts) {
  Announce("i1");
  EXPECT_EQ(Answer(*Hello('a', "i1")), "registered");
  // Restarted by hand: the same container and instance, another PID 1 with another key.
  EXPECT_NE(Answer(*Hello('b', "i1")), "registered");
  Down();
  Up();
  EXPECT_NE(Answer(*Hello('b', "i1")), "registered") << "first to come is not first to claim";
  Announce("i1");
  EXPECT_EQ(Answer(*Hello('b', "i1")), "registered");
  EXPECT_NE(Answer(*Hello('a', "i1")), "registered") << "the old key is nothing now";
}

TEST_F(ControlPointTest, TheDigestIsOnTheDiskBeforePidOneHearsThatItIsRegistered) {
  Announce("i1");
  EXPECT_EQ(ReadFile(dir_ / "key.json")->find(Sha256Hex(std::string(32, 'a'))), std::string::npos);
  const auto peer = Hello('a', "i1");
  ASSERT_EQ(Answer(*peer), "registered");
  EXPECT_NE(ReadFile(dir_ / "key.json")->find(Sha256Hex(std::string(32, 'a'))), std::string::npos);
  struct stat info {};
  ASSERT_EQ(::stat((dir_ / "key.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(ControlPointTest, ADigestThatCantBeStoredRegistersNobodyAndTheWindowStaysOpen) {
  Announce("i1");
  ASSERT_EQ(::rename((dir_ / "key.json").c_str(), (dir_ / "kept").c_str()), 0);
  ASSERT_EQ(::mkdir((dir_ / "key.json").c_str(), 0700), 0);  // no file can be renamed over a directory
  EXPECT_NE(Answer(*Hello('a', "i1")), "registered");
  EXPECT_EQ(Count("registered i1"), 0);
  ASSERT_EQ(::rmdir((dir_ / "key.json").c_str()), 0);
  EXPECT_EQ(Answer(*Hello('a', "i1")), "registered");
}

TEST_F(ControlPointTest, ADamagedKeyFileIsSaidAndOpensNothing) {
  Down();
  dir_.Write("key.json", "{\"digest\":\"x\"");
  loop_ = std::make_unique<Loop>();
  const auto point = ControlPoint::Open(*loop_, batch_, clock_, dir_ / "control.sock", dir_ / "key.json", this, {});
  ASSERT_FALSE(point);
  EXPECT_NE(point.error().message.find("key.json: not a key file"), std::string::npos) << point.error().message;
  ASSERT_TRUE(RemoveFile(dir_ / "key.json"));
  loop_.reset();
  Up();
  EXPECT_NE(Answer(*Hello('a', "i1")), "registered");
}

// A PID 1 of another release, as the gateway sees it: its range, its feature bits, what only it knows.
TEST_F(ControlPointTest, APidOneOfAnotherReleaseIsUnderstoodWhereverAVersionIsCommon) {
  const auto answer = [&](uint8_t low, uint8_t high, uint32_t features) {
    Announce("i1");
    Client peer(dir_ / "control.sock");
    std::string bytes = v2::EncodePreamble({.min = low, .max = high, .role = BGE_ROLE_CONTROL, .features = features});
    std::string fields;
    v2::AppendField(fields, BGE_TAG_KEY, std::string(32, 'o'));
    v2::AppendField(fields, BGE_TAG_INSTANCE, "i1");
    v2::AppendField(fields, 250, "what only a later one says");
    v2::AppendFrame(bytes, 0, BGE_HELLO, fields);
    v2::AppendFrame(bytes, 0, 250, "a kind of a later one");
    v2::AppendFrame(bytes, 0, BGE_PING, "12345678");
    peer.Send(bytes);
    const auto chosen = v2::DecodePreamble(peer.Take(BGE_PREAMBLE_BYTES));
    EXPECT_TRUE(chosen);
    EXPECT_EQ(chosen->features & ~BGE_FEATURES, 0u) << "only what both have";
    if (chosen->max == 0) return peer.AtEnd() ? std::string("no version") : std::string("open");
    const std::string rest = peer.Take(BGE_HEADER_BYTES);
    return rest.size() == BGE_HEADER_BYTES && rest[8] == BGE_REGISTERED ? "registered " + std::to_string(chosen->max) : "other";
  };
  EXPECT_EQ(answer(1, BGE_VERSION_MAX, 0), "registered " + std::to_string(BGE_VERSION_MAX));
  EXPECT_EQ(answer(BGE_VERSION_MAX, 9, 0xffffffff), "registered " + std::to_string(BGE_VERSION_MAX));
  EXPECT_EQ(answer(BGE_VERSION_MAX + 1, 9, 0), "no version");
  EXPECT_EQ(answer(0, BGE_VERSION_MIN - 1, 0), "no version");
}

TEST_F(ControlPointTest, APeerThatSaysNothingIsClosed) {
  Client silent(dir_ / "control.sock");
  EXPECT_TRUE(silent.AtEnd());
}

TEST_F(ControlPointTest, ARoundTripCountsOnlyWhenOurOwnLinkSawIt) {
  link_sees_ = false;
  Announce("i1");
  const auto peer = Hello('a', "i1");
  ASSERT_EQ(Answer(*peer), "registered");
  const auto probe = peer->NextOf(BGE_PROBE);
  ASSERT_TRUE(probe);
  EXPECT_EQ(probe->payload.size(), 16u);
  peer->Send(0, BGE_PROBED, probe->payload);
  EXPECT_TRUE(Eventually([&] { return Count("no round trip: PID 1 answered without a round trip") >= 1; }));
  link_sees_ = true;
  const auto next = peer->NextOf(BGE_PROBE);
  ASSERT_TRUE(next);
  EXPECT_NE(next->payload, probe->payload);
  peer->Send(0, BGE_PROBED, next->payload);
  EXPECT_TRUE(Eventually([&] { return Count("round trip") >= 1; }));
  const auto third = peer->NextOf(BGE_PROBE);
  ASSERT_TRUE(third);
  peer->Send(0, BGE_PROBED, "");
  EXPECT_TRUE(Eventually([&] { return Count("no round trip: gateway.sock can't be reached from inside") >= 1; }));
}

TEST_F(ControlPointTest, AHolderThatFallsSilentLosesTheChannel) {
  Announce("i1");
  const auto peer = Hello('a', "i1");
  ASSERT_EQ(Answer(*peer), "registered");
  EXPECT_TRUE(Eventually([&] { return Count("lost") == 1; }));
  EXPECT_GE(Count("no round trip: no answer in time") + Count("no round trip: the control channel ended"), 1);
}

class SandboxTest : public ::testing::Test {
 protected:
  struct Sink final : CallSink {
    explicit Sink(Core& c) : core(c) {}
    void OnOutput(uint8_t stream, std::string_view bytes) override {
      (stream == 1 ? out : err).append(bytes);
      if (id != 0) core.calls().Credit(id, stream, static_cast<uint32_t>(bytes.size()));
    }
    void OnStdinCredit(uint32_t) override {}
    void OnExit(const CallResult& r) override { done.set_value(r); }
    Core& core;
    Calls::Id id = 0;
    std::string out;
    std::string err;
    std::promise<CallResult> done;
  };

  SandboxTest() {
    core_.AddTool("kv", "#!/bin/sh\necho kv \"$@\"\n");
    core_.Configure();
    core_.Grant("a1", {"kv"});
    Start("i1");
  }
  void Start(const std::string& instance) {
    EXPECT_TRUE(core_.On([&] { return core_.roster().Announce(uid_, instance); }));
    sandbox_ = std::make_unique<Sandbox>(core_.paths(), uid_, instance);
    EXPECT_TRUE(Registered(instance));
  }
  bool Registered(const std::string& instance) {
    return core_.EventShows([&](const admin::ToOperator& event) {
      const auto* registered = std::get_if<admin::Registered>(&event);
      return registered != nullptr && registered->instance == instance;
    });
  }
  CallRequest Exec(std::vector<std::string> argv) {
    CallRequest request;
    request.agent = Core::RefOf("a1");
    request.surface = Surface::kExec;
    request.actor = "local";
    request.kind = CallKind::kExec;
    request.tool = "exec";
    request.args = std::move(argv);
    return request;
  }
  CallResult Run(CallRequest request, Sink& sink, const std::string& input = "") {
    request.stdin_open = !input.empty();
    auto result = sink.done.get_future();
    core_.On([&] {
      sink.id = core_.calls().Start(std::move(request), &sink);
      if (!input.empty()) {
        core_.calls().Stdin(sink.id, input);
        core_.calls().StdinEof(sink.id);
      }
    });
    return result.get();
  }
  CallResult Run(std::vector<std::string> argv) {
    Sink sink(core_);
    const CallResult result = Run(Exec(std::move(argv)), sink);
    out_ = sink.out;
    err_ = sink.err;
    return result;
  }

  Core core_;
  const std::string uid_ = Core::UidOf("a1");
  std::unique_ptr<Sandbox> sandbox_;
  std::string out_;
  std::string err_;
};

TEST_F(SandboxTest, PidOneRegistersAndMakesARoundTripFromInside) {
  EXPECT_TRUE(core_.EventShows([](const admin::ToOperator& event) {
    const auto* trip = std::get_if<admin::RoundTrip>(&event);
    return trip != nullptr && trip->ok && trip->micros > 0;
  }));
  EXPECT_TRUE(core_.On([&] { return core_.roster().Find({"default", "a1"}); })->connected);
}

TEST_F(SandboxTest, ExecGivesStreamsAndExitCodes) {
  EXPECT_EQ(Run({"sh", "-c", "echo out; echo err >&2; exit 3"}).ExitStatus(), 3);
  EXPECT_EQ(out_, "out\n");
  EXPECT_EQ(err_, "err\n");
  EXPECT_EQ(Run({"true"}).ExitStatus(), 0);
  EXPECT_EQ(Run({"sh", "-c", "kill -9 $$"}).ExitStatus(), 137);
  EXPECT_EQ(Run({"no-such-program"}).ExitStatus(), 127);
  EXPECT_EQ(Run({"pwd"}).ExitStatus(), 0);
  EXPECT_EQ(out_, "/workspace\n");
  Sink sink(core_);
  EXPECT_EQ(Run(Exec({"cat"}), sink, "from stdin").ExitStatus(), 0);
  EXPECT_EQ(sink.out, "from stdin");
}

TEST_F(SandboxTest, ExecIsAuditedWithItsArguments) {
  (void)Run({"sh", "-c", "exit 3"});
  EXPECT_TRUE(core_.AuditShows([](const auto& lines) {
    const json end = json::parse(lines.back());
    const json begin = json::parse(lines.at(lines.size() - 2));
    return end["event"] == "end" && end["outcome"] == "error" && end["exitCode"] == 3 && begin["kind"] == "exec" && begin["tool"] == "exec" &&
           begin["args"] == json({"sh", "-c", "exit 3"}) && begin["actor"] == "local" && begin["surface"] == "exec";
  }));
}

TEST_F(SandboxTest, ExecEndsAtItsDeadline) {
  CallRequest request = Exec({"sleep", "1000"});
  request.timeout = std::chrono::milliseconds(300);
  Sink sink(core_);
  const CallResult result = Run(std::move(request), sink);
  EXPECT_EQ(result.how, BGE_HOW_TIMEOUT);
  EXPECT_EQ(result.ExitStatus(), 124);
  EXPECT_EQ(result.text, "exec: timed out after 300ms");
}

TEST_F(SandboxTest, AToolIsACommandInside) {
  EXPECT_EQ(Run({"kv", "get", "a b"}).ExitStatus(), 0);
  EXPECT_EQ(out_, "kv get a b\n");
}

TEST_F(SandboxTest, ACoreToolRunsItsCommandInsideAndTheAuditHasWhatWasAsked) {
  CallRequest request;
  request.agent = Core::RefOf("a1");
  request.surface = Surface::kLlm;
  request.kind = CallKind::kCoreTool;
  request.tool = "read";
  request.args = {"path=notes.txt", "offset=1"};
  request.argv = {"sh", "-c", "echo $BEIGE_SESSION_KEY; pwd"};
  request.session_claim = "s-1";
  Sink sink(core_);
  EXPECT_EQ(Run(request, sink).ExitStatus(), 0);
  EXPECT_EQ(sink.out, "s-1\n/workspace\n");
  EXPECT_TRUE(core_.AuditShows([](const auto& lines) {
    const json end = json::parse(lines.back());
    const json begin = json::parse(lines.at(lines.size() - 2));
    return end["event"] == "end" && end["outcome"] == "ok" && begin["kind"] == "core_tool" && begin["tool"] == "read" && begin["rule"] == "coreTools" &&
           begin["args"] == json({"path=notes.txt", "offset=1"}) && begin["actor"] == "agent" && begin["surface"] == "llm" && begin["session"] == "s-1";
  }));
  EXPECT_NE(core_.metrics().Render().find(R"(agent="a1",decision="allow",namespace="default",outcome="ok",surface="llm",tool="read"})"), std::string::npos);
  // Not the way in of the agent's own socket, nor of a token.
  for (const Surface surface : {Surface::kSocket, Surface::kHttp, Surface::kExec}) {
    request.surface = surface;
    Sink denied(core_);
    EXPECT_EQ(Run(request, denied).how, BGE_HOW_DENIED);
    EXPECT_EQ(denied.out, "");
  }
  request.kind = CallKind::kLlm;
  request.surface = Surface::kLlm;
  Sink model(core_);
  EXPECT_EQ(Run(request, model).how, BGE_HOW_DENIED) << "nothing that Calls could run";
}

TEST_F(SandboxTest, AnotherProcessInsideCantTakeTheControlChannel) {
  // Plays a PID 1 from within: right protocol, wrong process.
  const std::string script =
      "import socket,struct\n"
      "s=socket.socket(socket.AF_UNIX); s.connect('/beige/control.sock')\n"
      "f=b'\\x0a'+struct.pack('<I',32)+b'k'*32\n"
      "d=b''\n"
      "try:\n"
      "  s.sendall(b'BGE2'+bytes([2,2,2,0])+bytes(8)+struct.pack('<IIBBH',len(f),0,12,0,0)+f)\n"
      "except OSError: pass\n"
      "try:\n"
      "  while True:\n    c=s.recv(4096)\n    if not c: break\n    d+=c\n"
      "except OSError: pass\n"
      "print(d[28:].decode())\n";
  EXPECT_EQ(Run({"python3", "-c", script}).ExitStatus(), 0) << err_;
  EXPECT_NE(out_.find("is not process 1 of a sandbox"), std::string::npos) << out_;
  EXPECT_TRUE(core_.AuditShows([](const auto& lines) {
    return std::any_of(lines.begin(), lines.end(), [](const auto& line) { return line.find("on control.sock: the peer") != std::string::npos; });
  }));
  EXPECT_EQ(Run({"true"}).ExitStatus(), 0) << "the holder keeps its channel";
}

TEST_F(SandboxTest, WhenTheSandboxDiesItsCallsAreLostAndTold) {
  Sink sink(core_);
  auto result = sink.done.get_future();
  core_.On([&] { sink.id = core_.calls().Start(Exec({"sleep", "1000"}), &sink); });
  sandbox_->Kill();
  const CallResult lost = result.get();
  EXPECT_EQ(lost.how, BGE_HOW_LOST);
  EXPECT_EQ(lost.ExitStatus(), 125);
  EXPECT_TRUE(core_.EventShows([](const admin::ToOperator& event) { return std::holds_alternative<admin::Lost>(event); }));
  const CallResult after = Run({"true"});
  EXPECT_EQ(after.ExitStatus(), 125);
  EXPECT_NE(after.text.find("the sandbox is not connected"), std::string::npos);
  Start("i2");
  EXPECT_EQ(Run({"true"}).ExitStatus(), 0);
}

TEST_F(SandboxTest, ItComesBackByItselfAfterARestartOfTheGateway) {
  core_.Restart();
  EXPECT_TRUE(Registered("i1"));
  EXPECT_EQ(Run({"true"}).ExitStatus(), 0);
  EXPECT_EQ(Run({"kv", "x"}).ExitStatus(), 0);
}

TEST_F(SandboxTest, ALinkFullOfConnectionsStillTakesTheProbe) {
  core_.config.limits.connections = 2;
  core_.Configure();
  Client first(core_.SocketOf("a1"));
  Client second(core_.SocketOf("a1"));
  (void)first.Call("kv");
  (void)second.Call("kv");
  core_.Restart();  // forgets the round trips so far; the sandbox comes back and a new one follows
  Client third(core_.SocketOf("a1"));
  Client fourth(core_.SocketOf("a1"));
  (void)third.Call("kv");
  (void)fourth.Call("kv");
  EXPECT_TRUE(Registered("i1"));
  EXPECT_TRUE(core_.EventShows([](const admin::ToOperator& event) {
    const auto* trip = std::get_if<admin::RoundTrip>(&event);
    return trip != nullptr && trip->ok;
  }));
  core_.On([&] { (void)core_.roster().Probe(uid_); });
}

}  // namespace
}  // namespace beige::testing
