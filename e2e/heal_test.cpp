// Kill anything and it heals: processes, containers, strays, a taken name, an engine that is away.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "base/files.h"
#include "e2e/home.h"

namespace beige::e2e {
namespace {
using nlohmann::json;

// A container with an agent's labels but for the agent, as an earlier run might have left it.
std::string PlantStray(json labels) {
  static int number = 0;
  labels["beige.dev/uid"] = "00000000-0000-4000-8000-000000000000";
  labels["beige.dev/agent"] = "gone";
  const Outcome r = RunProgram({"curl", "-sS", "--unix-socket", EngineSocket(), "-H", "Content-Type: application/json", "-d",
                                json{{"Image", "localhost/busybox:test"}, {"Cmd", {"sleep", "1000"}}, {"Labels", std::move(labels)}}.dump(),
                                "http://engine/containers/create?name=stray-" + std::to_string(::getpid()) + "-" + std::to_string(++number)});
  const std::string id = json::parse(r.out).value("Id", "");
  EXPECT_NE(id, "") << r.out;
  return id;
}
bool IsGone(const std::string& container) { return Engine("GET", "/containers/" + container + "/json").contains("message"); }

class HealTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home = std::make_unique<Home>();
    home->Configure("tools:\n  hello: {path: ./tools/hello}\n");
    home->AddShellTool("hello", "echo hello");
    home->AddAgent("a1", "tools: [{name: hello}]");
    home->Up();
    home->WaitReady("a1");
  }
  static void TearDownTestSuite() { home.reset(); }
  void SetUp() override { ASSERT_TRUE(Works()); }
  static bool Works(seconds limit = seconds(40)) {
    return Eventually([] { return home->Exec("a1", {"hello"}).out == "hello\n" && home->ConditionStatus("a1", "Ready") == "True"; }, limit);
  }
  static json Inspect() { return Engine("GET", "/containers/" + home->ContainerId("a1") + "/json"); }
  static std::unique_ptr<Home> home;
};
std::unique_ptr<Home> HealTest::home;

TEST_F(HealTest, TheSandboxOutlivesAKilledGateway) {
  const std::string container = home->ContainerId("a1");
  const auto started = Inspect()["State"]["StartedAt"];
  const pid_t old = home->Pid("gateway");
  ASSERT_GT(old, 0);
  RunProgram({"pkill", "-KILL", "-f", "beige-gateway --home " + home->path()});
  ASSERT_TRUE(Works());
  EXPECT_EQ(home->ContainerId("a1"), container);
  EXPECT_EQ(Inspect()["State"]["StartedAt"], started);
}

TEST_F(HealTest, TheSandboxOutlivesAKilledOperator) {
  const auto started = Inspect()["State"]["StartedAt"];
  RunProgram({"pkill", "-KILL", "-f", "beige-operator --home " + home->path()});
  home->AddAgent("after", "tools: []");
  home->WaitReady("after");
  EXPECT_EQ(Inspect()["State"]["StartedAt"], started);
  EXPECT_EQ(home->Beige({"delete", "agent", "after"}).status, 0);
}

TEST_F(HealTest, DownAndUpAdoptsTheRunningSandbox) {
  const auto started = Inspect()["State"]["StartedAt"];
  ASSERT_EQ(home->Beige({"down"}).status, 0);
  home->Up();
  ASSERT_TRUE(Works());
  EXPECT_EQ(Inspect()["State"]["StartedAt"], started);
}

TEST_F(HealTest, AKilledContainerIsStartedAgain) {
  Engine("POST", "/containers/" + home->ContainerId("a1") + "/kill");
  ASSERT_TRUE(Eventually([] { return home->GetAgent("a1")["status"]["sandbox"].value("restarts", 0) >= 1; }));
  ASSERT_TRUE(Works());
}

TEST_F(HealTest, ARemovedContainerIsMadeAgain) {
  const std::string before = home->ContainerId("a1");
  Engine("DELETE", "/containers/" + before + "?force=true");
  ASSERT_TRUE(Eventually([&] { return home->ContainerId("a1") != before; }));
  ASSERT_TRUE(Works());
}

TEST_F(HealTest, APausedContainerIsUnpaused) {
  Engine("POST", "/containers/" + home->ContainerId("a1") + "/pause");
  ASSERT_TRUE(Eventually([] { return Inspect()["State"]["Paused"] == false; }));
  ASSERT_TRUE(Works());
}

TEST_F(HealTest, ARenamedContainerIsRenamedBack) {
  const std::string name = Inspect()["Name"];
  Engine("POST", "/containers/" + home->ContainerId("a1") + "/rename?name=stolen-by-hand-" + std::to_string(::getpid()));
  ASSERT_TRUE(Eventually([&] { return Inspect()["Name"] == name; }));
}

TEST_F(HealTest, SettingsChangedByHandAreReplaced) {
  const std::string before = home->ContainerId("a1");
  const Outcome r = RunProgram({"curl", "-sS", "--unix-socket", EngineSocket(), "-H", "Content-Type: application/json", "-d", R"({"PidsLimit": 9999})",
                                "http://engine/containers/" + before + "/update"});
  ASSERT_EQ(r.out.find("message"), std::string::npos) << r.out;
  ASSERT_TRUE(Eventually([&] { return home->ContainerId("a1") != before; }, seconds(90)));
  ASSERT_TRUE(Works());
}

TEST_F(HealTest, AContainerConnectedToANetworkByHandIsReplaced) {
  const std::string before = home->ContainerId("a1");
  for (const auto& [verb, network] : {std::pair{"disconnect", "none"}, std::pair{"connect", "bridge"}}) {
    const Outcome r = RunProgram({"curl", "-sS", "--unix-socket", EngineSocket(), "-H", "Content-Type: application/json", "-d",
                                  json{{"Container", before}}.dump(), std::string("http://engine/networks/") + network + "/" + verb});
    ASSERT_EQ(r.out.find("message"), std::string::npos) << r.out;
  }
  ASSERT_TRUE(Eventually([&] { return home->ContainerId("a1") != before; }, seconds(20))) << "at once, not at the next look at everything";
  ASSERT_TRUE(Works());
  EXPECT_EQ(Inspect()["NetworkSettings"]["Networks"].size(), 1u);
  EXPECT_TRUE(Inspect()["NetworkSettings"]["Networks"].contains("none"));
}

TEST_F(HealTest, AContainerRestartedByHandIsReplacedSinceNobodyAnnouncedThatStart) {
  const std::string before = home->ContainerId("a1");
  Engine("POST", "/containers/" + before + "/restart?t=0");
  ASSERT_TRUE(Eventually([&] { return home->ContainerId("a1") != before; }, seconds(40)));
  ASSERT_TRUE(Works());
}

TEST_F(HealTest, SomebodyElsesContainerUnderOurNameIsLeftAloneAndSaid) {
  const std::string before = home->ContainerId("a1");
  const std::string name = Inspect()["Name"].get<std::string>().substr(1);
  ASSERT_EQ(home->Beige({"down"}).status, 0);
  Engine("DELETE", "/containers/" + before + "?force=true");
  const Outcome r = RunProgram({"curl", "-sS", "--unix-socket", EngineSocket(), "-H", "Content-Type: application/json", "-d",
                                R"({"Image":"localhost/busybox:test","Cmd":["sleep","1000"]})", "http://engine/containers/create?name=" + name});
  const std::string foreign = json::parse(r.out).value("Id", "");
  ASSERT_NE(foreign, "") << r.out;
  home->Up();
  ASSERT_TRUE(Eventually([] { return home->ConditionReason("a1", "Ready") == "NameConflict" || home->ConditionReason("a1", "SandboxRunning") == "NameConflict"; }));
  EXPECT_TRUE(Engine("GET", "/containers/" + foreign + "/json").contains("Id")) << "the foreign container must stay";
  Engine("DELETE", "/containers/" + foreign + "?force=true");
  ASSERT_TRUE(Works(seconds(90)));
}

TEST_F(HealTest, AStrayOfAnEarlierRunIsRemoved) {
  const std::string id = PlantStray(Inspect()["Config"]["Labels"]);
  RunProgram({"pkill", "-KILL", "-f", "beige-operator --home " + home->path()});
  ASSERT_TRUE(Eventually([&] { return IsGone(id); }, seconds(40)));
}

TEST_F(HealTest, TenGatewayRestartsLeaveTheSameContainerCallingTools) {
  const std::string container = home->ContainerId("a1");
  for (int i = 0; i < 10; ++i) {
    RunProgram({"pkill", "-KILL", "-f", "beige-gateway --home " + home->path()});
    ASSERT_TRUE(Eventually([] { return home->Exec("a1", {"hello"}).out == "hello\n"; })) << "restart " << i;
  }
  EXPECT_EQ(home->ContainerId("a1"), container);
}

TEST(EngineAwayTest, AnEngineThatComesLaterIsUsedWhenItComes) {
  Home home;
  home.Configure();
  const std::string late = home.path() + "/late.sock";
  home.WriteFile("operator.yaml",
                 "apiVersion: beige.dev/v1alpha1\nkind: OperatorConfig\nengine: {type: docker, socket: " + late +
                     "}\nmetrics: {listen: \"127.0.0.1:0\"}\ndefaults: {image: \"localhost/busybox:test\", resources: {memory: 256Mi}}\n");
  home.AddAgent("a1", "tools: []");
  home.Up();
  ASSERT_TRUE(Eventually([&] {
    return home.ConditionReason("a1", "SandboxRunning") == "EngineUnavailable" || home.ConditionReason("a1", "Ready") == "EngineUnavailable";
  }));
  ASSERT_EQ(::symlink(EngineSocket().c_str(), late.c_str()), 0);
  home.WaitReady("a1");
  EXPECT_EQ(home.Exec("a1", {"true"}).status, 0);
}

void KillBoth(const Home& home) {
  for (const char* process : {"operator", "gateway"}) {
    const pid_t pid = home.Pid(process);
    ASSERT_GT(pid, 1) << process;
    ASSERT_EQ(::kill(pid, SIGKILL), 0) << process;
  }
}

TEST(TwoHomesTest, OneEngineServesTwoHomesThatNeverTouchEachOther) {
  Home one;
  Home two;
  for (Home* home : {&one, &two}) {
    home->Configure();
    home->AddAgent("same", "tools: []");
    home->Up();
  }
  const auto inspect = [](const Home& home) { return Engine("GET", "/containers/" + home.ContainerId("same") + "/json"); };
  const auto started = [&](const Home& home) { return home.ContainerId("same") + " " + inspect(home)["State"].value("StartedAt", ""); };
  for (const Home* home : {&one, &two}) home->WaitReady("same");
  const std::string ones = started(one);
  const std::string twos = started(two);
  ASSERT_NE(one.ContainerId("same"), two.ContainerId("same"));
  // Each sweeps in its own home and beside the other's: all processes of both die, and a stray of either lies about.
  const std::string stray_of_one = PlantStray(inspect(one)["Config"]["Labels"]);
  const std::string stray_of_two = PlantStray(inspect(two)["Config"]["Labels"]);
  ASSERT_EQ(two.Beige({"down"}).status, 0);
  KillBoth(one);
  ASSERT_TRUE(Eventually([&] { return IsGone(stray_of_one); }, seconds(40)));
  EXPECT_FALSE(IsGone(stray_of_two)) << "who is down sweeps nothing, and nobody sweeps for it";
  two.Up();
  KillBoth(two);
  ASSERT_TRUE(Eventually([&] { return IsGone(stray_of_two); }, seconds(40)));
  for (const Home* home : {&one, &two}) {
    EXPECT_TRUE(Eventually([&] { return home->Exec("same", {"true"}).status == 0 && home->ConditionStatus("same", "Ready") == "True"; }, seconds(40)));
  }
  EXPECT_EQ(started(one), ones);
  EXPECT_EQ(started(two), twos);
  one.Down();
  EXPECT_EQ(two.Exec("same", {"true"}).status, 0);
  EXPECT_EQ(started(two), twos);
}

}  // namespace
}  // namespace beige::e2e
