#include "gateway/roster/roster.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/files.h"
#include "gateway/roster/descriptor_budget.h"
#include "tests/gateway/core/client.h"
#include "tests/gateway/core/core.h"

namespace beige::testing {
namespace {
using nlohmann::json;

class RosterTest : public ::testing::Test {
 protected:
  RosterTest() {
    core_.AddTool("kv", "#!/bin/sh\necho kv\n");
    core_.AddTool("git", "#!/bin/sh\necho git\n");
    core_.Configure();
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat st {};
    return ::stat(path.c_str(), &st) == 0 ? st.st_mode & 07777 : 0;
  }
  int Status(const std::string& agent, const std::string& tool) {
    return Client(core_.SocketOf(agent)).Call(tool)["exitCode"];
  }
  std::vector<std::string> Launchers(const std::string& agent) {
    return ListDir(core_.paths().LaunchersDir(Core::UidOf(agent))).value_or(std::vector<std::string>{"(none)"});
  }

  Core core_;
};

TEST_F(RosterTest, AGrantMakesADirectoryWithTwoSocketsThatAnySandboxUidCanUse) {
  const auto in_force = core_.Grant("a1", {"kv", "nope"});
  EXPECT_EQ(in_force.tools, std::vector<std::string>{"kv"});
  EXPECT_EQ(in_force.unknown_tools, std::vector<std::string>{"nope"});
  const std::string directory = core_.paths().LinkDir(Core::UidOf("a1"));
  EXPECT_EQ(ModeOf(core_.paths().RunDir()), 0700u);
  EXPECT_EQ(ModeOf(directory), 0755u);
  EXPECT_EQ(ModeOf(core_.paths().GatewaySocket(Core::UidOf("a1"))), 0666u);
  EXPECT_EQ(ModeOf(core_.paths().ControlSocket(Core::UidOf("a1"))), 0666u);
  EXPECT_EQ(ModeOf(directory + "/bin"), 0755u);
  EXPECT_EQ(Launchers("a1"), std::vector<std::string>{"kv"});
}

TEST_F(RosterTest, GrantAndRevokeAreInForceWhenPutReturns) {
  core_.Grant("a1", {"kv"});
  EXPECT_EQ(Status("a1", "kv"), 0);
  EXPECT_EQ(Status("a1", "git"), 126);
  core_.Grant("a1", {"git"});
  EXPECT_EQ(Status("a1", "kv"), 126);
  EXPECT_EQ(Status("a1", "git"), 0);
  EXPECT_EQ(Launchers("a1"), std::vector<std::string>{"git"});
  core_.Grant("a1", {});
  EXPECT_EQ(Status("a1", "git"), 126);
  EXPECT_TRUE(Launchers("a1").empty());
}

TEST_F(RosterTest, AHeldConnectionSeesTheNewGrant) {
  core_.Grant("a1", {});
  Client client(core_.SocketOf("a1"));
  EXPECT_EQ(client.Call("kv")["exitCode"], 126);
  core_.Grant("a1", {"kv"});
  EXPECT_EQ(client.Call("kv")["exitCode"], 0);
}

TEST_F(RosterTest, GrantsAreInForceAfterARestartBeforeAnyOperatorComes) {
  core_.Grant("a1", {"kv"});
  core_.Grant("a2", {"git"});
  core_.Restart();
  EXPECT_EQ(Status("a1", "kv"), 0);
  EXPECT_EQ(Status("a1", "git"), 126);
  EXPECT_EQ(Status("a2", "git"), 0);
  EXPECT_EQ(core_.On([&] { return core_.roster().Uids().size(); }), 2u);
}

TEST_F(RosterTest, ABrokenGrantFileIsLeftOutAndTheOthersCount) {
  core_.Grant("a1", {"kv"});
  std::ofstream(core_.paths().GrantsDir() + "/broken.json") << "{";
  core_.Restart();
  EXPECT_EQ(Status("a1", "kv"), 0);
}

TEST_F(RosterTest, RemoveTakesEverythingAway) {
  core_.Grant("a1", {"kv"});
  EXPECT_EQ(Status("a1", "kv"), 0);
  const std::string uid = Core::UidOf("a1");
  ASSERT_TRUE(core_.On([&] { return core_.roster().Announce(uid, "i1"); }));
  ASSERT_TRUE(core_.On([&] { return core_.roster().Remove(uid); }));
  EXPECT_FALSE(Exists(core_.paths().LinkDir(uid)));
  EXPECT_FALSE(Exists(core_.paths().Tree(uid)));
  EXPECT_FALSE(Exists(core_.paths().KeysDir() + "/" + uid + ".json"));
  EXPECT_FALSE(Exists(core_.paths().GrantsDir() + "/" + uid + ".json"));
  EXPECT_FALSE(Exists(core_.paths().ToolData(uid, "kv")));
  EXPECT_TRUE(core_.On([&] { return core_.roster().Remove(uid); })) << "absent is success";
  EXPECT_EQ(core_.metrics().Render().find("agent=\"a1\""), std::string::npos);
  core_.Restart();
  EXPECT_EQ(core_.On([&] { return core_.roster().Uids().size(); }), 0u);
}

TEST_F(RosterTest, ARevocationIsInForceThoughItCantBeStoredOrShown) {
  core_.Grant("a1", {"kv", "git"});
  EXPECT_EQ(Status("a1", "kv"), 0);
  // Neither the grant's file nor the tree can be written: plain files stand in their places.
  const std::string tree = core_.paths().Tree(Core::UidOf("a1"));
  for (const std::string& directory : {core_.paths().GrantsDir(), tree}) {
    ASSERT_TRUE(RemoveTree(directory));
    ASSERT_TRUE(WriteFileAtomic(directory, "", 0600));
  }
  admin::Grant grant;
  grant.agent = Core::RefOf("a1");
  grant.generation = 2;
  grant.tools = {"git"};
  EXPECT_FALSE(core_.On([&] { return core_.roster().Put(grant); }));
  EXPECT_EQ(Status("a1", "kv"), 126);
  EXPECT_EQ(Status("a1", "git"), 0) << "what both allow goes on";
  EXPECT_TRUE(core_.EventShows([](const admin::ToOperator& event) {
    const auto* in_force = std::get_if<admin::InForce>(&event);
    return in_force != nullptr && in_force->tools == std::vector<std::string>{"git"};
  }));
  // Room again: the same grant is taken now.
  for (const std::string& directory : {core_.paths().GrantsDir(), tree}) ASSERT_TRUE(RemoveFile(directory));
  EXPECT_TRUE(core_.On([&] { return core_.roster().Put(grant); }));
  EXPECT_EQ(Launchers("a1"), std::vector<std::string>{"git"});
}

TEST_F(RosterTest, ASkillThatCantBeShownKeepsNothingElseBack) {
  core_.config.skills["bad"].path = core_.paths().home() + "/no-such-folder";
  core_.Configure();
  admin::Grant grant;
  grant.agent = Core::RefOf("a1");
  grant.tools = {"kv"};
  grant.skills = {"bad"};
  auto in_force = core_.On([&] { return core_.roster().Put(grant); });
  ASSERT_TRUE(in_force) << in_force.error().message;
  EXPECT_TRUE(in_force->unavailable_skills.contains("bad"));
  EXPECT_EQ(Status("a1", "kv"), 0);
  grant.tools = {};
  grant.generation = 2;
  in_force = core_.On([&] { return core_.roster().Put(grant); });
  ASSERT_TRUE(in_force) << in_force.error().message;
  EXPECT_EQ(Status("a1", "kv"), 126);
}

TEST_F(RosterTest, ModelsThatNoConfigurationKnowsAreToldAndNothingElseSuffers) {
  core_.config.llm.providers["local"].models["qwen/3:8b"] = {};
  core_.Configure();
  admin::Grant grant;
  grant.agent = Core::RefOf("a1");
  grant.tools = {"kv"};
  grant.model_choices = {{"local/qwen/3:8b", "off"}, {"local/other", "low"}, {"nobody/knows", "off"}};
  const auto in_force = core_.On([&] { return core_.roster().Put(grant); });
  ASSERT_TRUE(in_force) << in_force.error().message;
  EXPECT_EQ(in_force->unknown_models, (std::vector<std::string>{"local/other", "nobody/knows"}));
  EXPECT_EQ(Status("a1", "kv"), 0);
  for (const ModelChoice& bad : {ModelChoice{"qwen", "off"}, ModelChoice{"a/", "off"}, ModelChoice{"a/b", "more"}}) {
    grant.model_choices = {bad};
    EXPECT_FALSE(core_.On([&] { return core_.roster().Put(grant); })) << bad.name << " " << bad.thinking_level;
  }
}

TEST_F(RosterTest, ARemovalThatFailedIsDoneByTheNextOne) {
  core_.Grant("a1", {"kv"});
  const std::string uid = Core::UidOf("a1");
  const std::string grants = core_.paths().GrantsDir();
  // A folder in the file's place can't be unlinked.
  ASSERT_TRUE(RemoveFile(grants + "/" + uid + ".json"));
  ASSERT_TRUE(MakeDirs(grants + "/" + uid + ".json", 0700));
  EXPECT_FALSE(core_.On([&] { return core_.roster().Remove(uid); }));
  EXPECT_FALSE(Exists(core_.paths().Tree(uid))) << "the rest is done all the same";
  EXPECT_FALSE(core_.On([&] { return core_.roster().Remove(uid); })) << "not confirmed while it is not done";
  ASSERT_TRUE(RemoveTree(grants + "/" + uid + ".json"));
  EXPECT_TRUE(core_.On([&] { return core_.roster().Remove(uid); }));
}

TEST_F(RosterTest, AReloadThatChangesWhatAGrantMeansIsTold) {
  core_.Grant("a1", {"kv", "late"});
  EXPECT_EQ(Status("a1", "late"), 127);
  core_.AddTool("late", "#!/bin/sh\necho late\n");
  core_.Configure();
  EXPECT_TRUE(core_.EventShows([](const admin::ToOperator& event) {
    const auto* in_force = std::get_if<admin::InForce>(&event);
    return in_force != nullptr && in_force->tools == std::vector<std::string>{"kv", "late"} && in_force->unknown_tools.empty();
  }));
  EXPECT_EQ(Status("a1", "late"), 0);
}

TEST_F(RosterTest, ASuspendedAgentCanCallNothing) {
  admin::Grant grant;
  grant.agent = Core::RefOf("a1");
  grant.tools = {"kv"};
  grant.suspended = true;
  ASSERT_TRUE(core_.On([&] { return core_.roster().Put(grant); }));
  const json answer = Client(core_.SocketOf("a1")).Call("kv");
  EXPECT_EQ(answer["error"], "kv: denied by policy: agent a1 is suspended");
}

TEST_F(RosterTest, NamesThatCouldLeaveTheirFolderAreRefused) {
  const auto put = [&](AgentRef agent, std::vector<std::string> tools) {
    admin::Grant grant;
    grant.agent = std::move(agent);
    grant.tools = std::move(tools);
    return core_.On([&] { return core_.roster().Put(grant); });
  };
  EXPECT_FALSE(put({"default", "a", "../x"}, {}));
  EXPECT_FALSE(put({"default", "a", ""}, {}));
  EXPECT_FALSE(put({"default", "../a", "u"}, {}));
  EXPECT_FALSE(put({"de/fault", "a", "u"}, {}));
  EXPECT_FALSE(put({"default", "a", "u"}, {"../kv"}));
  EXPECT_FALSE(put({"default", "a", "u"}, {".."}));
  EXPECT_TRUE(put({"default", "a", "u"}, {"kv"}));
  EXPECT_FALSE(put({"default", "b", "u"}, {"kv"})) << "a uid belongs to one agent";
}

TEST_F(RosterTest, GrantsLeaveNotesInTheAuditOnceEach) {
  core_.Grant("a1", {"kv"});
  const auto grant = core_.On([&] { return core_.roster().List().at(0).grant; });
  ASSERT_TRUE(core_.On([&] { return core_.roster().Put(grant); }));
  int notes = 0;
  for (const auto& line : core_.AuditLines()) {
    const json record = json::parse(line);
    if (record["event"] == "note" && record["kind"] == "grant") ++notes;
  }
  EXPECT_EQ(notes, 1);
}

TEST_F(RosterTest, ListAndFindTellWhatIsThere) {
  core_.Grant("a1", {"kv"});
  Client client(core_.SocketOf("a1"));
  (void)client.Call("kv");
  const auto view = core_.On([&] { return core_.roster().Find({"default", "a1"}); });
  ASSERT_TRUE(view);
  EXPECT_EQ(view->connections, 1u);
  EXPECT_EQ(view->calls, 0u);
  EXPECT_FALSE(view->connected);
  EXPECT_FALSE(core_.On([&] { return core_.roster().Find({"other", "a1"}); }));
}

TEST(DescriptorBudgetTest, GivesWhatIsAskedForWhereThereIsRoomAndSharesWhereThereIsNot) {
  EXPECT_EQ(ConnectionsEach(64, 20'000, 20, 60), 64);
  EXPECT_EQ(ConnectionsEach(64, 1024, 20, 20), (1024 - 192 - 20 * 20 - 20 * 4) / 20);
  EXPECT_EQ(ConnectionsEach(64, 256, 1, 0), 44);
  EXPECT_EQ(ConnectionsEach(64, 256, 100, 300), 4) << "an agent without a connection could do nothing";
  EXPECT_EQ(ConnectionsEach(2, 256, 100, 300), 2) << "never more than asked for";
  EXPECT_EQ(ConnectionsEach(64, 20'000, 0, 0), 64);
  for (size_t agents = 1; agents < 40; ++agents) {
    EXPECT_LE(static_cast<int64_t>(agents) * ConnectionsEach(4096, 4096, agents, 0), 4096 - 192) << agents;
  }
}

TEST(DescriptorBudgetTest, LinksGetTheirShareOfALowLimitAndAllOfItBackWhenAgentsGo) {
  const rlimit low{256, 4096};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  Core core;
  core.Configure();
  core.Grant("a1", {});
  core.Grant("a2", {});
  const auto limit_said = [&] {
    std::vector<std::unique_ptr<Client>> held;
    for (int i = 0; i < 70; ++i) {
      held.push_back(std::make_unique<Client>(core.SocketOf("a1")));
      const auto answer = held.back()->Call("x");
      if (answer["exitCode"] == 125) return answer["error"].get<std::string>();
    }
    return std::string("none");
  };
  EXPECT_NE(limit_said().find("the limit is 12 "), std::string::npos) << limit_said();
  // A grant that can't be stored changes no share.
  const std::string grants = core.paths().GrantsDir();
  ASSERT_TRUE(RemoveTree(grants));
  ASSERT_TRUE(WriteFileAtomic(grants, "", 0600));
  admin::Grant grant;
  grant.agent = Core::RefOf("a1");
  grant.generation = 2;
  ASSERT_FALSE(core.On([&] { return core.roster().Put(grant); }));
  EXPECT_TRUE(Eventually([&] { return limit_said().find("the limit is 12 ") != std::string::npos; })) << limit_said();
  ASSERT_TRUE(RemoveFile(grants));
  ASSERT_TRUE(core.On([&] { return core.roster().Remove(Core::UidOf("a2")); }));
  EXPECT_TRUE(Eventually([&] { return limit_said().find("the limit is 44 ") != std::string::npos; })) << limit_said();
}

}  // namespace
}  // namespace beige::testing
