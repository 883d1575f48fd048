#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/unix_socket.h"
#include "cli/doctor/engines.h"
#include "cli/doctor/home_table.h"
#include "cli/doctor/limits.h"
#include "engine_double.h"
#include "tests/support/temp_dir.h"

namespace beige::cli {
namespace {
using ::testing::HasSubstr;

LimitFacts Plenty() { return {1u << 20, 128, 3, 65536, 100ull << 30, 1000000, 4, 8}; }

const Finding& Of(const Findings& findings, const std::string& check) {
  for (const auto& finding : findings) {
    if (finding.check == check) return finding;
  }
  static const Finding none{"none", Level::kFail, "not among the findings", ""};
  return none;
}

TEST(LimitsTest, PlentyIsOkAndWhatIsShortSaysWhatToDo) {
  for (const auto& finding : JudgeLimits(Plenty())) EXPECT_EQ(finding.level, Level::kOk) << finding.message;
  struct Case {
    const char* check;
    Level level;
    LimitFacts facts;
  };
  auto few = Plenty();
  few.descriptors = 1024;
  few.agents = 20;
  auto hardly_any = Plenty();
  hardly_any.descriptors = 64;
  auto watched = Plenty();
  watched.inotify_used = 125;
  auto no_watches = Plenty();
  no_watches.inotify_watches = 10;
  auto full = Plenty();
  full.disk_free = 1 << 20;
  auto nearly = Plenty();
  nearly.disk_free = 500 << 20;
  auto no_inodes = Plenty();
  no_inodes.files_free = 0;
  const Case cases[] = {{"limits.descriptors", Level::kWarn, few}, {"limits.descriptors", Level::kFail, hardly_any}, {"limits.inotify", Level::kWarn, watched},
                        {"limits.inotify", Level::kWarn, no_watches}, {"limits.disk", Level::kFail, full}, {"limits.disk", Level::kWarn, nearly}, {"limits.disk", Level::kFail, no_inodes}};
  for (const auto& c : cases) {
    const Finding finding = Of(JudgeLimits(c.facts), c.check);
    EXPECT_EQ(finding.level, c.level) << finding.message;
    EXPECT_NE(finding.action, "");
  }
}

TEST(LimitsTest, TheNeedGrowsWithAgentsAndTools) {
  EXPECT_LT(DescriptorsNeeded(0, 0), 1024u);
  EXPECT_GE(DescriptorsNeeded(20, 20) - DescriptorsNeeded(0, 0), 20u * 64);
}

TEST(LimitsTest, ThisMachineIsReadWithoutAHome) {
  const LimitFacts facts = ReadLimits("/nonexistent/home");
  EXPECT_GT(facts.descriptors, 0u);
  EXPECT_GT(facts.disk_free, 0u);
  EXPECT_GT(facts.inotify_watches, 0u);
}

TEST(HomeTableTest, WrongModesAreFoundAndNamedWithWhatToDo) {
  const TempDir dir;
  const HomePaths paths(dir.path());
  ASSERT_EQ(::chmod(paths.home().c_str(), 0700), 0);
  for (const auto& made : {paths.AgentsDir(), paths.DataOperator(), paths.DataGateway(), paths.LogsDir(), paths.RunDir()}) ASSERT_TRUE(MakeDirs(made, 0700));
  ASSERT_TRUE(WriteFileAtomic(paths.OperatorYaml(), "x\n", 0600));
  ASSERT_TRUE(WriteFileAtomic(paths.ApiToken(), "x\n", 0600));
  for (const auto& place : LookAtHome(paths)) EXPECT_EQ(place.problem, "") << place.path;
  EXPECT_EQ(Of(JudgeHome(LookAtHome(paths)), "home.ownership").level, Level::kOk);

  ASSERT_EQ(::chmod(paths.OperatorYaml().c_str(), 0666), 0);
  ASSERT_EQ(::chmod(paths.ApiToken().c_str(), 0644), 0);
  ASSERT_EQ(::chmod(paths.AgentsDir().c_str(), 0777), 0);
  std::string all;
  for (const auto& finding : JudgeHome(LookAtHome(paths))) {
    EXPECT_EQ(finding.level, Level::kWarn);
    all += finding.message + " -> " + finding.action + "\n";
  }
  EXPECT_THAT(all, HasSubstr("operator.yaml: others than its owner may write it (mode 0666) -> chmod go-w " + paths.OperatorYaml()));
  EXPECT_THAT(all, HasSubstr("data/gateway/api-token: others than its owner may use it (mode 0644) -> chmod 0600 "));
  EXPECT_THAT(all, HasSubstr("agents.d: others than its owner may write it"));

  ASSERT_EQ(::chmod(paths.home().c_str(), 0755), 0);
  EXPECT_THAT(LookAtHome(paths).front().problem, HasSubstr("others may look into it"));
}

TEST(HomeTableTest, WhatTheGatewayOwnsIsNotWhatTheOperatorObeys) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const TempDir dir;
  const HomePaths paths(dir.path());
  for (const auto& made : {paths.AgentsDir(), paths.DataOperator(), paths.DataGateway(), paths.LogsDir()}) ASSERT_TRUE(MakeDirs(made, 0700));
  ASSERT_EQ(::chmod(paths.home().c_str(), 0750), 0);
  for (const auto& given : {paths.home(), paths.home() + "/data", paths.AgentsDir(), paths.DataOperator()}) ASSERT_EQ(::chown(given.c_str(), 61001, 61003), 0);
  for (const auto& given : {paths.DataGateway(), paths.LogsDir()}) ASSERT_EQ(::chown(given.c_str(), 61002, 61003), 0);
  for (const auto& place : LookAtHome(paths)) EXPECT_EQ(place.problem, "") << place.path;
  ASSERT_EQ(::chown(paths.AgentsDir().c_str(), 61002, 61003), 0);
  EXPECT_THAT(Of(JudgeHome(LookAtHome(paths)), "home.ownership").message, HasSubstr("agents.d: belongs to 61002, not to 61001"));
}

OperatorConfig At(const std::string& socket) {
  OperatorConfig config;
  config.engine_socket = socket;
  return config;
}
EnvLookup NoEnv() {
  return [](const std::string&) { return std::optional<std::string>(); };
}

TEST(EnginesTest, BothAreAlwaysSpokenOf) {
  const TempDir dir;
  const auto report = LookAtEngines(At(dir.path() + "/none.sock"), NoEnv());
  ASSERT_EQ(report.engines.size(), 2u);
  EXPECT_EQ(report.engines[0].name, "docker");
  EXPECT_EQ(report.engines[0].state, "notFound");
  EXPECT_EQ(report.engines[1].name, "podman");
  const Finding docker = Of(report.findings, "engine.docker");
  EXPECT_EQ(docker.level, Level::kFail);
  EXPECT_THAT(docker.message, HasSubstr("not found at " + dir.path() + "/none.sock"));
  EXPECT_THAT(docker.action, HasSubstr("engine.socket"));
  EXPECT_NE(Of(report.findings, "engine.podman").level, Level::kFail) << "Beige does without";
}

TEST(EnginesTest, AnEngineWithoutLimitsOrSeccompSaysSo) {
  const TempDir dir;
  const std::string socket = dir.path() + "/engine.sock";
  const beige::testing::EngineDouble engine(socket, R"({"SecurityOptions":["name=rootless"],"CgroupVersion":"2","MemoryLimit":true,"CpuCfsQuota":false,"PidsLimit":false})", beige::testing::EngineDouble::kPodman);
  const auto report = LookAtEngines(At(socket), NoEnv());
  const Finding found = Of(report.findings, "engine.podman");
  EXPECT_THAT(found.message, HasSubstr("9.9 (API 1.99), rootless, seccomp off, cgroup v2"));
  const Finding limits = Of(report.findings, "engine.podman.limits");
  EXPECT_EQ(limits.level, Level::kFail);
  EXPECT_THAT(limits.message, HasSubstr("can't limit cpu, pids"));
  EXPECT_THAT(limits.action, HasSubstr("Delegate="));
  EXPECT_EQ(Of(report.findings, "engine.podman.seccomp").level, Level::kWarn);
}

TEST(EnginesTest, AnEngineThatHangsIsNotWaitedForLong) {
  const TempDir dir;
  const std::string socket = dir.path() + "/engine.sock";
  const UniqueFd listener = std::move(ListenUnix(socket, 0666).value());  // takes connections, says nothing
  const auto facts = ProbeEngine(socket, std::chrono::milliseconds(50));
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, Code::kTimeout);
  EXPECT_THAT(facts.error().message, HasSubstr("did not answer within 50ms"));
}

}  // namespace
}  // namespace beige::cli
