#include "gateway/link/link.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/files.h"
#include "tests/gateway/core/client.h"
#include "tests/gateway/core/core.h"

namespace beige::testing {
namespace {
using nlohmann::json;

json RequestFor(const std::string& tool, json id = nullptr) {
  json request{{"type", "tool_request"}, {"tool", tool}, {"args", json::array()}};
  if (!id.is_null()) request["id"] = std::move(id);
  return request;
}

class LinkTest : public ::testing::Test {
 protected:
  LinkTest() {
    core_.AddTool("kv", "#!/bin/sh\necho kv\n");
    core_.AddTool("git", "#!/bin/sh\necho git\n");
    core_.Configure();
    core_.Grant("a1", {"kv"});
  }
  std::string Socket() const { return core_.SocketOf("a1"); }

  Core core_;
};

TEST_F(LinkTest, AV1CallThatIsNotGrantedIsDeniedWith126AndAudited) {
  Client client(Socket());
  const json answer = client.Call("git", {"status"});
  EXPECT_EQ(answer, (json{{"type", "tool_response"}, {"success", false}, {"error", "git: denied by policy: not in tools of agent a1"}, {"exitCode", 126}}));
  const auto lines = core_.AuditLines();
  const json record = json::parse(lines.back());
  EXPECT_EQ(record["decision"], "deny");
  EXPECT_EQ(record["reason"], "denied by policy: not in tools of agent a1");
  EXPECT_EQ(record["agentUid"], Core::UidOf("a1"));
  EXPECT_EQ(record["surface"], "socket");
}

TEST_F(LinkTest, ANameThatNobodyKnowsIs127AndAudited) {
  Client client(Socket());
  const json answer = client.Call("nope\n" + std::string(200, 'x'));
  EXPECT_EQ(answer["exitCode"], 127);
  EXPECT_NE(answer["error"].get<std::string>().find("unknown tool"), std::string::npos);
  EXPECT_LT(answer["error"].get<std::string>().size(), 100u);
  EXPECT_EQ(json::parse(core_.AuditLines().back())["decision"], "deny");
  EXPECT_NE(core_.metrics().Render().find("tool=\"unknown\""), std::string::npos);
}

TEST_F(LinkTest, IdentityIsTheSocketWhateverThePayloadSays) {
  Client client(Socket());
  json request = RequestFor("git");
  request["agent"] = "other";
  request["agentUid"] = "uid-of-other";
  request["sessionContext"] = {{"agentName", "other"}, {"sessionKey", "other/1"}};
  (void)client.Ask(request);
  const json record = json::parse(core_.AuditLines().back());
  EXPECT_EQ(record["agent"], "a1");
  EXPECT_EQ(record["session"], "other/1");
}

TEST_F(LinkTest, PipelinedV1RequestsAreAnsweredInOrder) {
  Client client(Socket());
  std::string all;
  for (int i = 0; i < 1000; ++i) all += RequestFor(i % 50 == 0 ? "kv" : "git", i).dump() + "\n";
  std::thread sender([&] { client.Send(all); });
  for (int i = 0; i < 1000; ++i) {
    const auto line = client.Line();
    ASSERT_TRUE(line);
    const json answer = json::parse(*line);
    ASSERT_EQ(answer["id"], i);
    ASSERT_EQ(answer["exitCode"], i % 50 == 0 ? 0 : 126);
  }
  sender.join();
}

TEST_F(LinkTest, ARequestMayComeByteByByte) {
  Client client(Socket());
  for (const char c : " \n" + RequestFor("git", "x").dump() + "\r\n") client.Send({&c, 1});
  EXPECT_EQ(json::parse(*client.Line())["id"], "x");
}

TEST_F(LinkTest, AMalformedLineGetsAnErrorAndTheConnectionStays) {
  Client client(Socket());
  client.Send("{\"type\":\"tool_request\",\"tool\":7}\n");
  json answer = json::parse(*client.Line());
  EXPECT_EQ(answer["exitCode"], 125);
  EXPECT_EQ(answer["type"], "tool_response");
  client.Send("{broken\n");
  EXPECT_EQ(json::parse(*client.Line())["exitCode"], 125);
  EXPECT_EQ(client.Call("git")["exitCode"], 126);
}

TEST_F(LinkTest, ALineBeyond1MiBIsRefusedByNameAndTheConnectionCloses) {
  Client client(Socket());
  std::thread sender([&] { client.Send("{\"type\":\"" + std::string(3 << 20, 'x')); });
  const auto line = client.Line();
  ASSERT_TRUE(line);
  EXPECT_NE(line->find("limit of 1048576 bytes"), std::string::npos);
  EXPECT_TRUE(client.AtEnd());
  sender.join();
}

TEST_F(LinkTest, AClientThatHasClosedItsWritingSideStillGetsItsAnswers) {
  for (const char* end : {"\n", ""}) {
    Client client(Socket());
    client.Send(RequestFor("kv", 1).dump() + "\n" + RequestFor("kv", 2).dump() + end);
    client.ShutdownWriting();
    EXPECT_EQ(json::parse(*client.Line())["output"], "kv\n");
    EXPECT_EQ(json::parse(*client.Line())["id"], 2);
    EXPECT_TRUE(client.AtEnd());
  }
}

TEST_F(LinkTest, ArgumentsThatNoProgramCouldGetAreRefusedByNumber) {
  Client client(Socket());
  EXPECT_EQ(client.Call("kv", {"a", std::string("b\0c", 3)})["error"], "argument 2: can't hold a NUL byte; pass it on stdin");
  EXPECT_EQ(client.Call("kv", {std::string((128 << 10) + 1, 'x')})["error"], "argument 1: 131073 bytes; the limit is 131072; pass it on stdin");
  EXPECT_EQ(client.Call("kv", {std::string(128 << 10, 'x')})["exitCode"], 126) << "the kernel counts the NUL, and says so";
}

TEST_F(LinkTest, AnotherProtocolGetsOneLineThatSaysWhatIsSpoken) {
  Client client(Socket());
  client.Send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_NE(client.Line()->find("unknown protocol"), std::string::npos);
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(LinkTest, AV2CallSentRightBehindThePreambleIsAnswered) {
  V2Client client(Socket(), BGE_ROLE_CALLER);
  client.Call(1, "git");
  client.Call(2, "kv");
  client.Call(3, "nope");
  std::map<uint32_t, v2::Exit> exits;
  while (exits.size() < 3) {
    const auto frame = client.NextOf(BGE_EXIT);
    ASSERT_TRUE(frame);
    exits[frame->header.call] = *v2::DecodeExit(frame->payload);
  }
  EXPECT_EQ(exits[1], (v2::Exit{BGE_HOW_DENIED, 126, "git: denied by policy: not in tools of agent a1"}));
  EXPECT_EQ(exits[2], (v2::Exit{BGE_HOW_EXITED, 0, ""}));
  EXPECT_EQ(exits[3], (v2::Exit{BGE_HOW_DENIED, 127, "nope: unknown tool"}));
}

TEST_F(LinkTest, APeerOfAnotherVersionLearnsThatNoneFits) {
  Client client(Socket());
  client.Send(v2::EncodePreamble({.min = 9, .max = 12, .role = BGE_ROLE_CALLER}));
  const auto answer = v2::DecodePreamble(client.Take(BGE_PREAMBLE_BYTES));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->max, 0);
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(LinkTest, V2PeersThatBreakTheRulesAreRefusedWithATextAndClosed) {
  const auto refused = [&](uint16_t role, const std::string& bytes) {
    V2Client client(Socket(), role);
    client.raw().Send(bytes);
    const auto frame = client.NextOf(BGE_REFUSED);
    EXPECT_TRUE(frame);
    EXPECT_TRUE(client.raw().AtEnd());
    return frame ? frame->payload : "";
  };
  std::string twice;
  v2::AppendFrame(twice, 0, BGE_CALL, "");
  std::string cut;
  v2::AppendFrame(cut, 1, BGE_CALL, std::string("\x01\xFF\xFF\xFF\x7Fgit", 8));
  std::string endless;
  v2::AppendFrame(endless, 1, BGE_STDIN, "");
  endless[3] = '\x7F';
  EXPECT_NE(refused(BGE_ROLE_CONTROL, "").find("role 2"), std::string::npos);
  EXPECT_NE(refused(BGE_ROLE_CALLER, twice).find("call id 0"), std::string::npos);
  EXPECT_NE(refused(BGE_ROLE_CALLER, cut).find("field longer than its frame"), std::string::npos);
  EXPECT_NE(refused(BGE_ROLE_CALLER, endless).find("the limit is"), std::string::npos);
  std::string probe;
  v2::AppendFrame(probe, 0, BGE_PROBE, std::string(16, 'n'));
  EXPECT_NE(refused(BGE_ROLE_PROBE, probe).find("no such probe"), std::string::npos);
}

TEST_F(LinkTest, APingOnAHeldConnectionIsEchoed) {
  V2Client client(Socket(), BGE_ROLE_CALLER);
  client.Send(0, BGE_PING, "12345678");
  EXPECT_EQ(client.NextOf(BGE_PONG)->payload, "12345678");
}

TEST_F(LinkTest, ConnectionsOverTheLimitAreRefusedInTheLanguageTheySpeak) {
  core_.config.limits.connections = 4;
  core_.Configure();
  std::vector<std::unique_ptr<Client>> held;
  for (int i = 0; i < 4; ++i) {
    held.push_back(std::make_unique<Client>(Socket()));
    ASSERT_EQ(held.back()->Call("git")["exitCode"], 126);
  }
  Client v1(Socket());
  const json answer = v1.Call("git");
  EXPECT_EQ(answer["exitCode"], 125);
  EXPECT_NE(answer["error"].get<std::string>().find("the limit is 4"), std::string::npos);
  EXPECT_TRUE(v1.AtEnd());
  V2Client v2(Socket(), BGE_ROLE_CALLER);
  EXPECT_NE(v2.NextOf(BGE_REFUSED)->payload.find("the limit is 4"), std::string::npos);
  // One that says nothing does not keep the place.
  Client silent(Socket());
  EXPECT_TRUE(silent.AtEnd());
  held.pop_back();
  EXPECT_TRUE(Eventually([&] {
    Client again(Socket());
    return again.Call("git")["exitCode"] == 126;
  }));
  EXPECT_EQ(held[0]->Call("git")["exitCode"], 126);
}

TEST_F(LinkTest, ASilentFloodOverTheLimitPushesItselfOutAndNobodyElse) {
  core_.config.limits.connections = 4;
  core_.Configure();
  std::vector<std::unique_ptr<Client>> held;
  for (int i = 0; i < 4; ++i) {
    held.push_back(std::make_unique<Client>(Socket()));
    ASSERT_EQ(held.back()->Call("git")["exitCode"], 126);
  }
  // Many more than may wait: by their patience alone, eight at a time, they would hold up the next one for ten seconds.
  std::vector<std::unique_ptr<Client>> flood;
  for (int i = 0; i < 160; ++i) flood.push_back(std::make_unique<Client>(Socket()));
  const auto start = std::chrono::steady_clock::now();
  Client late(Socket());
  EXPECT_EQ(late.Call("git")["exitCode"], 125);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(held[0]->Call("git")["exitCode"], 126);
}

TEST_F(LinkTest, UnfinishedRequestsBeyondTheLinksBufferAreRefused) {
  core_.config.limits.buffered_bytes = 1 << 20;
  core_.Configure();
  const std::string part = "{\"type\":\"" + std::string(600 << 10, 'x');
  Client first(Socket());
  first.Send(part);
  ASSERT_TRUE(Eventually([&] { return core_.On([&] { return core_.roster().List().at(0).connections; }) == 1; }));
  Client second(Socket());
  std::thread sender([&] { second.Send(part); });
  const auto line = second.Line();
  ASSERT_TRUE(line);
  EXPECT_NE(line->find("limit of 1048576 bytes"), std::string::npos);
  sender.join();
  first.Close();
  EXPECT_TRUE(Eventually([&] {
    Client third(Socket());
    third.Send(part + "\"}\n");
    const auto answer = third.Line();
    return answer && answer->find("tool_request") != std::string::npos;
  }));
}

TEST_F(LinkTest, AV1OutputBeyondTheLinksBufferEndsThatCallAlone) {
  core_.config.limits.buffered_bytes = 1 << 20;
  core_.AddTool("flood", "#!/bin/sh\nexec cat /dev/zero\n");
  core_.Configure();
  core_.Grant("a1", {"kv", "flood"});
  Client client(Socket());
  const json answer = client.Call("flood");
  EXPECT_EQ(answer["exitCode"], 125);
  EXPECT_NE(answer["error"].get<std::string>().find("output beyond the link's limit"), std::string::npos);
  EXPECT_EQ(client.Call("kv")["output"], "kv\n");
}

// What the core has done is read from the order of the audit records: no clock is asked.
class FairnessTest : public LinkTest {
 protected:
  // Lets `sends` run while the core thread is busy with something else, so that all of it is there at once when the core looks.
  void WhileTheCoreIsBusy(const std::function<void()>& sends) {
    // The core's side may still look at these when this side has gone on.
    auto busy = std::make_shared<std::promise<void>>();
    std::promise<void> go;
    core_.loop().Post([busy, released = go.get_future().share()] {
      busy->set_value();
      released.wait();
    });
    busy->get_future().wait();
    sends();
    go.set_value();
  }
  static size_t Scripts() {
    size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string line = ReadFile((entry.path() / "cmdline").string()).value_or("");  // it may be gone by now
      found += line.find("/tool/main") != std::string::npos || line.find("12000") != std::string::npos;
    }
    return found;
  }
  size_t Ends() const {
    size_t found = 0;
    for (const auto& line : core_.AuditLines()) found += json::parse(line)["event"] == "end";
    return found;
  }
  // Ends before the last begin of `agent`.
  size_t EndsBeforeLastOf(const std::string& agent) const {
    size_t found = 0;
    size_t before = 0;
    for (const auto& line : core_.AuditLines()) {
      const json record = json::parse(line);
      if (record["event"] == "end") ++found;
      if (record["event"] == "begin" && record["agent"] == agent) before = found;
    }
    return before;
  }
  // How many records of a1 stand before the `n`th of a2.
  size_t Before(size_t n) {
    size_t others = 0;
    for (const auto& line : core_.AuditLines()) {
      const json record = json::parse(line);
      if (record["event"] != "begin") continue;
      if (record["agent"] == "a1") ++others;
      if (record["agent"] == "a2" && --n == 0) return others;
    }
    return 1'000'000;
  }
};

TEST_F(FairnessTest, WithSixtyFourFullConnectionsOfOneAgentAnotherIsServedAfterOneShare) {
  core_.Grant("a2", {"kv"});
  std::string all;
  for (int i = 0; i < 100; ++i) all += RequestFor("git", i).dump() + "\n";
  std::vector<std::unique_ptr<Client>> flood;
  for (int i = 0; i < 64; ++i) {
    flood.push_back(std::make_unique<Client>(Socket()));
    (void)flood.back()->Call("git");
  }
  Client neighbour(core_.SocketOf("a2"));
  (void)neighbour.Call("git");
  const size_t before = Before(1);
  WhileTheCoreIsBusy([&] {
    for (auto& client : flood) client->Send(all);
    neighbour.Send(all);
  });
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(neighbour.Line());
  // A share is two calls of 16; what a read may owe beyond is a few more.
  EXPECT_LE(Before(2) - before, 16u);
  EXPECT_LE(Before(101) - before, 100u * 8) << "of 6,400 that were there first";
  for (auto& client : flood) {
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(client->Line());
  }
}

TEST_F(FairnessTest, ThousandsOfV2CallsOnOneConnectionLetAnotherAgentThrough) {
  core_.Grant("a2", {"kv"});
  V2Client flood(Socket(), BGE_ROLE_CALLER);
  Client neighbour(core_.SocketOf("a2"));
  (void)neighbour.Call("git");
  std::string fields;
  v2::AppendField(fields, BGE_TAG_TOOL, "git");
  std::string frames;
  for (uint32_t i = 1; i <= 2000; ++i) v2::AppendFrame(frames, i, BGE_CALL, fields);
  flood.Call(3000, "git");
  ASSERT_TRUE(flood.NextOf(BGE_EXIT));
  const size_t before = Before(1);
  WhileTheCoreIsBusy([&] {
    flood.raw().Send(frames);
    neighbour.Send(RequestFor("git").dump() + "\n");
  });
  ASSERT_TRUE(neighbour.Line());
  EXPECT_LE(Before(2) - before, 16u);
  std::set<uint32_t> answered;
  while (answered.size() < 2000) {
    const auto frame = flood.NextOf(BGE_EXIT);
    ASSERT_TRUE(frame);
    answered.insert(frame->header.call);
  }
}

TEST_F(FairnessTest, AThousandCallsAtOnceAreAllAnswered) {
  V2Client client(Socket(), BGE_ROLE_CALLER);
  std::thread sender([&] {
    for (uint32_t i = 1; i <= 1000; ++i) client.Call(i, i % 100 == 0 ? "kv" : "git");
  });
  std::map<int, int> codes;
  for (int i = 0; i < 1000; ++i) {
    const auto frame = client.NextOf(BGE_EXIT);
    ASSERT_TRUE(frame);
    ++codes[v2::DecodeExit(frame->payload)->code];
  }
  sender.join();
  EXPECT_EQ(codes, (std::map<int, int>{{0, 10}, {126, 990}}));
}

TEST_F(FairnessTest, EndlessLinesAndAFloodOfConnectionsLetAnotherAgentThrough) {
  core_.Grant("a2", {"kv"});
  Client neighbour(core_.SocketOf("a2"));
  (void)neighbour.Call("git");
  std::vector<std::unique_ptr<Client>> flood;
  const std::string endless = "{\"type\":\"" + std::string(100 << 10, 'x');
  WhileTheCoreIsBusy([&] {
    for (int i = 0; i < 100; ++i) {
      flood.push_back(std::make_unique<Client>(Socket()));
      const size_t size = i < 20 ? endless.size() : 4096;  // a sanitizer takes its time for each byte
      (void)::send(flood.back()->fd(), endless.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    neighbour.Send(RequestFor("git").dump() + "\n");
  });
  ASSERT_TRUE(neighbour.Line());
  flood.clear();
  EXPECT_EQ(neighbour.Call("git")["exitCode"], 126);
  EXPECT_TRUE(Eventually([&] {
    Client again(Socket());
    return again.Call("git")["exitCode"] == 126;
  })) << "the flooded link serves again";
}

TEST_F(FairnessTest, ASlowReaderKeepsNobodyWaiting) {
  core_.Grant("a2", {"kv"});
  std::string all;
  for (int i = 0; i < 200; ++i) all += RequestFor("git", i).dump() + "\n";
  Client slow(Socket());
  // Until its answers fill every buffer and the core reads no more of it.
  const timeval soon{0, 200'000};
  ::setsockopt(slow.fd(), SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
  while (::send(slow.fd(), all.data(), all.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(all.size())) {
  }
  Client neighbour(core_.SocketOf("a2"));
  for (int i = 0; i < 50; ++i) ASSERT_EQ(neighbour.Call("git")["exitCode"], 126);
  Client other(Socket());
  EXPECT_EQ(other.Call("git")["exitCode"], 126) << "nor its own agent's other callers";
  EXPECT_LE(core_.On([&] { return core_.roster().List().at(0).connections; }), 64u);
}

TEST_F(FairnessTest, OutputOfOneAgentsToolsLetsAnotherAgentThrough) {
  constexpr int kTools = 12;
  constexpr int kCallsEach = 5;
  std::vector<std::string> tools;
  for (int i = 0; i < kTools; ++i) {
    tools.push_back("print" + std::to_string(i));
    core_.AddTool(tools.back(), "#!/bin/sh\nwhile [ ! -e /data/go ]; do sleep 0.02; done\nhead -c 12000 /dev/zero\n");
  }
  core_.Configure();
  core_.Grant("a1", tools);
  core_.Grant("a2", {"kv"});
  Client neighbour(core_.SocketOf("a2"));
  (void)neighbour.Call("git");
  V2Client client(Socket(), BGE_ROLE_CALLER);
  for (uint32_t i = 0; i < kTools * kCallsEach; ++i) client.Call(i + 1, tools[i % kTools]);
  // Every tool runs when its script is a process of the host.
  ASSERT_TRUE(Eventually([&] { return Scripts() == kTools * kCallsEach; }));
  const size_t ends = Ends();
  WhileTheCoreIsBusy([&] {
    for (const auto& tool : tools) std::ofstream(core_.paths().ToolData(Core::UidOf("a1"), tool) + "/go");
    EXPECT_TRUE(Eventually([&] { return Scripts() == 0; }));
    neighbour.Send(RequestFor("git").dump() + "\n");
  });
  ASSERT_TRUE(neighbour.Line());
  // Without turns all that the cells' channels bring at one look comes first.
  EXPECT_LE(EndsBeforeLastOf("a2") - ends, 10u);
  for (uint32_t i = 0; i < kTools * kCallsEach; ++i) ASSERT_TRUE(client.NextOf(BGE_EXIT));
}

TEST_F(LinkTest, OneAgentsFloodOfRequestsDoesNotHoldUpAnother) {
  core_.Grant("a2", {"kv"});
  std::string all;
  for (int i = 0; i < 200; ++i) all += RequestFor("git", i).dump() + "\n";
  std::atomic<bool> stop{false};
  std::thread flood([&] {
    Client client(Socket());
    while (!stop) {
      client.Send(all);
      for (int i = 0; i < 200; ++i) (void)client.Line();
    }
  });
  Client neighbour(core_.SocketOf("a2"));
  for (int i = 0; i < 200; ++i) ASSERT_EQ(neighbour.Call("git")["exitCode"], 126);
  stop = true;
  flood.join();
}

TEST_F(LinkTest, ConnectionsAreCountedInTheMetricAndGoAway) {
  const std::string series = "beige_link_connections{agent=\"a1\",namespace=\"default\"} ";
  {
    Client client(Socket());
    (void)client.Call("git");
    EXPECT_NE(core_.metrics().Render().find(series + "1"), std::string::npos) << core_.metrics().Render();
  }
  EXPECT_TRUE(Eventually([&] { return core_.metrics().Render().find(series + "0") != std::string::npos; }));
}

}  // namespace
}  // namespace beige::testing
