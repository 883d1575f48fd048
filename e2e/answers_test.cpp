// What the CLI says of a running Beige: policy explain, doctor, adopt.
#include <gtest/gtest.h>

#include "base/files.h"
#include "e2e/home.h"

namespace beige::e2e {
namespace {
using nlohmann::json;

json Finding(const json& report, const std::string& check) {
  for (const auto& finding : report["findings"]) {
    if (finding["check"] == check) return finding;
  }
  return nullptr;
}

TEST(AnswersTest, PolicyExplainDecidesAsACallAndDoctorFindsAWholeMachine) {
  Home home;
  home.Configure("tools:\n  hello: {path: ./tools/hello}\n  other: {path: ./tools/other}\n");
  home.AddShellTool("hello", "echo hello");
  home.AddShellTool("other", "echo other");
  home.AddAgent("a1", "tools: [{name: hello}]");
  EXPECT_EQ(home.Beige({"policy", "explain", "a1", "hello"}).status, 5) << "the gateway is down, and only it knows";
  home.Up();
  home.WaitReady("a1");

  const Outcome allow = home.Beige({"policy", "explain", "a1", "hello", "x", "--", "-y"});
  EXPECT_EQ(allow.status, 0) << allow.err;
  EXPECT_NE(allow.out.find("hello x -y by agent a1"), std::string::npos) << allow.out;
  const json granted = json::parse(home.Beige({"policy", "explain", "a1", "hello", "-o", "json"}).out);
  EXPECT_EQ(granted["decision"], "allow");
  EXPECT_EQ(granted["rule"], "tools");
  EXPECT_EQ(granted["granted"], true);
  EXPECT_EQ(granted["offered"], true);

  // The same words and numbers as a call that is really made gets.
  for (const char* tool : {"other", "nonsense"}) {
    const Outcome deny = home.Beige({"policy", "explain", "a1", tool, "-o", "json"});
    EXPECT_EQ(deny.status, 4);
    const json answer = json::parse(deny.out);
    EXPECT_EQ(answer["decision"], "deny");
    EXPECT_EQ(answer["exists"], std::string(tool) == "other");
    EXPECT_EQ(answer["granted"], false);
    const json call = home.CallV1("a1", {{"type", "tool_request"}, {"tool", tool}, {"args", json::array()}});
    EXPECT_EQ(call["exitCode"], answer["exitCode"]) << call;
    EXPECT_NE(call["error"].get<std::string>().find(answer["reason"].get<std::string>()), std::string::npos) << call << answer;
  }
  EXPECT_EQ(home.Beige({"policy", "explain", "nobody", "hello"}).status, 3);
  EXPECT_EQ(home.Beige({"policy", "explain", "a1", "exec"}).status, 0);
  EXPECT_EQ(home.Beige({"policy", "explain", "a1", "../../../agents"}).status, 2) << "no way to another route";

  const Outcome doctor = home.Beige({"doctor", "-o", "json"});
  const json report = json::parse(doctor.out);
  EXPECT_EQ(doctor.status, 0) << doctor.out;
  EXPECT_EQ(report["privilegeSplit"], "namespace");
  EXPECT_EQ(report["cells"]["made"], true);
  EXPECT_EQ(report["engines"][0]["state"], "ok");
  for (const char* check : {"process.beige-gateway", "process.beige-operator", "home.ownership", "config", "image", "limits.disk"}) {
    EXPECT_EQ(Finding(report, check)["level"], "ok") << check << Finding(report, check);
  }
}

TEST(AnswersTest, ACopiedHomeTouchesNothingUntilItIsAdopted) {
  Home original;
  original.Configure();
  original.AddAgent("a1", "tools: []");
  original.Up();
  original.WaitReady("a1");
  const std::string container = original.ContainerId("a1");
  ASSERT_EQ(original.Beige({"down"}).status, 0);
  const auto state = [&] { return Engine("GET", "/containers/" + container + "/json").value("State", json()); };
  const json before = state();

  Home copy;
  ASSERT_EQ(RunProgram({"cp", "-a", original.path() + "/.", copy.path()}).status, 0);
  copy.Up();
  ASSERT_TRUE(Eventually([&] { return copy.ConditionReason("a1", "Ready") == "HomeCopied"; }));
  const json status = json::parse(copy.Beige({"status", "-o", "json"}).out);
  EXPECT_NE(status.value("notice", "").find("beige adopt"), std::string::npos) << status;
  EXPECT_EQ(Finding(json::parse(copy.Beige({"doctor", "-o", "json"}).out), "home.copy")["level"], "fail");
  EXPECT_EQ(state()["StartedAt"], before["StartedAt"]);
  EXPECT_EQ(state()["Running"], true);
  EXPECT_NE(copy.Beige({"exec", "a1", "--", "true"}).status, 0);

  const Outcome adopt = copy.Beige({"adopt"});
  ASSERT_EQ(adopt.status, 0) << adopt.out << adopt.err;
  copy.WaitReady("a1");
  EXPECT_EQ(copy.Exec("a1", {"true"}).status, 0);
  EXPECT_EQ(json::parse(copy.Beige({"status", "-o", "json"}).out).value("notice", ""), "");
  const Outcome again = copy.Beige({"adopt"});
  EXPECT_EQ(again.status, 0);
  EXPECT_NE(again.out.find("nothing to adopt"), std::string::npos) << again.out;
}

}  // namespace
}  // namespace beige::e2e
