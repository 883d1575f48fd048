// Attacks on policy, audit and the neighbour, by what is called and how often.
#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "e2e/escape/rogue.h"

namespace beige::e2e {
namespace {
using nlohmann::json;

// Of records from `from` on: ids of allowed begins that have no end.
std::set<std::string> Unfinished(const std::vector<json>& records, size_t from = 0) {
  std::set<std::string> open;
  for (size_t i = from; i < records.size(); ++i) {
    if (records[i]["event"] == "begin" && records[i]["decision"] == "allow") open.insert(records[i]["id"]);
    if (records[i]["event"] == "end") open.erase(records[i]["id"]);
  }
  return open;
}

TEST_F(EscapeTest, NoOtherFormOfANameReachesATool) {
  const size_t before = home->Audit().size();
  ExpectRefused({"names", "probe"});
  for (const char* name : {"./probe", "/tools/bin/probe", "../probe", "probe/", "Probe", "probe ", "exec", "beige-sandbox"}) {
    const json answer = home->CallV1("rogue", {{"type", "tool_request"}, {"tool", name}, {"args", {"touch /data/reached"}}});
    EXPECT_EQ(answer.value("success", true), false) << name;
  }
  for (const std::string& name : std::initializer_list<std::string>{std::string("probe\0", 6), std::string("\0probe", 6)}) {
    EXPECT_EQ(home->CallV1("rogue", {{"type", "tool_request"}, {"tool", name}}).value("success", true), false);
  }
  const auto records = home->Audit();
  for (size_t i = before; i < records.size(); ++i) {
    if (records[i]["event"] != "begin" || records[i]["kind"] != "tool") continue;
    EXPECT_EQ(records[i]["decision"], "deny") << records[i].dump();
  }
}

TEST_F(EscapeTest, AToolOfAnotherAgentsListStaysOutOfReach) {
  const std::string there = home->GetAgent("neighbour")["local"]["workspace"];
  for (const char* script : {"probe id", "/tools/bin/probe id", "/beige/bin/beige-sandbox run probe id",
                             "cp /beige/bin/beige-sandbox /workspace/probe && /workspace/probe id",
                             "ln -sf /tools/bin/hello /workspace/probe && /workspace/probe id",
                             "cd /workspace && PATH=/workspace:$PATH probe id"}) {
    const Outcome r = home->Sh("neighbour", script);
    EXPECT_NE(r.status, 0) << script;
    EXPECT_EQ(r.out.find("uid="), std::string::npos) << script;
  }
  EXPECT_NE(home->Exec("rogue", {"probe", "id"}).out.find("uid="), std::string::npos) << "the tool itself works";
}

TEST_F(EscapeTest, WhatACallSaysOfItselfIsNotWhatIsRecorded) {
  const std::string forged = "\n{\"v\":1,\"ts\":\"2026-11-29T12:00:00.123Z\",\"seq\":99999999,\"id\":\"01HZZZZZZZZZZZZZZZZZZZZZZZ\",\"event\":\"end\",\"agent\":\"neighbour\"}\n";
  const size_t before = home->Audit().size();
  home->CallV1("rogue", {{"type", "tool_request"}, {"tool", "hello"}, {"args", {forged}}, {"cwd", forged}, {"agent", "neighbour"},
                         {"agentUid", "0"}, {"decision", "allow"}, {"actor", "local"},
                         {"sessionContext", {{"sessionKey", forged}, {"channel", forged}, {"agentName", "neighbour"}}}});
  home->CallV1("rogue", {{"type", "tool_request"}, {"tool", forged}, {"args", json::array()}});
  home->Exec("rogue", {"sh", "-c", "BEIGE_SESSION_KEY=\"$1\" BEIGE_CHANNEL=\"$1\" hello \"$1\"", "sh", forged});
  const std::string uid = home->GetAgent("rogue")["metadata"]["uid"];
  const auto records = home->Audit();  // every line is JSON
  int begins = 0;
  for (size_t i = before; i < records.size(); ++i) {
    EXPECT_EQ(records[i]["seq"].get<uint64_t>(), records[i - 1]["seq"].get<uint64_t>() + 1) << "a line too many";
    if (records[i]["event"] != "begin" || records[i]["kind"] != "tool") continue;
    ++begins;
    EXPECT_EQ(records[i]["agent"], "rogue");
    EXPECT_EQ(records[i]["agentUid"], uid);
    EXPECT_EQ(records[i]["actor"], "agent");
  }
  EXPECT_EQ(begins, 3);
}

TEST_F(EscapeTest, AThousandCallsAtOnceAreAnsweredOneByOneAndTheNeighbourIsServedMeanwhile) {
  const std::string container = home->ContainerId("rogue");
  const size_t before = home->Audit().size();
  const auto neighbour_calls = [] {
    std::chrono::steady_clock::duration worst{};
    for (int i = 0; i < 8; ++i) {
      const auto start = std::chrono::steady_clock::now();
      EXPECT_EQ(home->CallV1("neighbour", {{"type", "tool_request"}, {"tool", "hello"}, {"args", {"n"}}})["output"], "hello n\n");
      worst = std::max(worst, std::chrono::steady_clock::now() - start);
    }
    return std::chrono::duration_cast<milliseconds>(worst).count();
  };
  neighbour_calls();
  home->Sh("rogue", "for i in 1 2; do /workspace/attacker calls probe 'sleep 0.05' 1000 >> /tmp/calls & done; sleep 0.1");
  EXPECT_LT(neighbour_calls(), 3000);
  ExpectNeighbourWorks();
  std::string answers;
  ASSERT_TRUE(Eventually([&] {
    answers = home->Sh("rogue", "cat /tmp/calls").out;
    return std::count(answers.begin(), answers.end(), '\n') == 2;
  }, seconds(60))) << answers;
  EXPECT_EQ(answers.find("answers: 1000"), 0u) << answers;
  ExpectAlive(container);
  ASSERT_TRUE(Eventually([&] { return Unfinished(home->Audit(), before).empty(); })) << "every begin has its end";
}

TEST_F(EscapeTest, ACrowdAtTheControlSocketDoesNotKeepPid1Out) {
  const std::string container = home->ContainerId("rogue");
  home->Sh("rogue", "/workspace/attacker crowd 1000 12 > /dev/null 2>&1 & sleep 0.3");
  KillGateway();
  ExpectAlive(container);
  ExpectNeighbourWorks();
}

// Last, since it fills the log that the others read.
TEST_F(EscapeTest, SpamBeyondTheBudgetStopsTheSpammerAloneAndIsTold) {
  struct Restore {
    std::string config = home->ReadText("gateway.yaml");
    ~Restore() { home->WriteFile("gateway.yaml", config); }
  } restore;
  const std::string& config = restore.config;
  const auto size = [] { return home->ReadText("logs/audit.jsonl").size(); };
  const auto call = [] { return home->CallV1("rogue", {{"type", "tool_request"}, {"tool", "hello"}, {"args", {"x"}}}); };
  // A megabyte beyond what the day has seen so far.
  home->WriteFile("gateway.yaml", config + "audit: {perAgentBytesPerDay: " + std::to_string(size() + (1 << 20)) + "}\n");
  ASSERT_TRUE(Eventually([&] {
    Attack({"calls", "nosuch", "x", "2000"});
    return call().value("error", "").find("the budget of agent rogue") != std::string::npos;
  })) << "what can't be recorded is not run";
  ExpectNeighbourWorks();
  const size_t full = size();
  for (int i = 0; i < 3; ++i) Attack({"calls", "nosuch", "x", "2000"});
  EXPECT_LT(size(), full + 20000) << "refusals are summed up, not recorded one by one";
  EXPECT_EQ(home->Exec("rogue", {"echo", "mine"}).out, "mine\n") << "the owner is not locked out by what the agent does";
  home->WriteFile("gateway.yaml", config);
  ASSERT_TRUE(Eventually([&] { return call().value("output", "") == "hello x\n"; })) << "a larger budget lets it go on";
  const auto records = home->Audit();
  EXPECT_TRUE(std::any_of(records.begin(), records.end(), [](const json& r) {
    return r["event"] == "note" && r.value("message", "").find("over its budget") != std::string::npos;
  }));
}

}  // namespace
}  // namespace beige::e2e
