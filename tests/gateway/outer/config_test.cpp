#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/config/last_good.h"
#include "gateway/config/live_config.h"
#include "tests/gateway/outer/temp_home.h"

namespace beige {
namespace {
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const std::string kHead = "apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\n";
std::string ToolYaml(const std::string& name, const std::string& description = "A tool") {
  return "name: " + name + "\ndescription: " + description + "\ncommand: [/bin/true]\n";
}
}  // namespace

class LiveConfigTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(MakeDirs(paths_.DataGateway(), 0700));
    ASSERT_TRUE(EnsureDefaultToken(paths_));
    home_.Write("tools/kv/tool.yaml", ToolYaml("kv"));
    home_.Write("tools/papers/tool.yaml", ToolYaml("papers"));
  }
  void WriteConfig(const std::string& rest) { home_.Write("gateway.yaml", kHead + rest); }
  std::unique_ptr<LiveConfig> Make() {
    LiveConfig::Times times{milliseconds(30), milliseconds(150), milliseconds(200)};
    return std::make_unique<LiveConfig>(loop_, paths_, env_, times,
                                        LiveConfig::Callbacks{[this](const ConfigSet&) { ++applied_; }, [this](const std::vector<std::string>&) { ++told_; }});
  }
  // Steps the loop until `done`, at most 10 s.
  template <typename F>
  bool StepUntil(F done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!done() && std::chrono::steady_clock::now() < deadline) loop_.RunOnce(milliseconds(50));
    return done();
  }
  static std::vector<std::string> ToolNames(const LiveConfig& config) {
    std::vector<std::string> names;
    for (const auto& tool : config.current().tools) names.push_back(tool->name);
    return names;
  }

  gateway_test::TempHome home_;
  HomePaths paths_ = home_.paths();
  Loop loop_;
  std::map<std::string, std::string> variables_;
  EnvLookup env_ = [this](const std::string& name) -> std::optional<std::string> {
    const auto found = variables_.find(name);
    return found == variables_.end() ? std::nullopt : std::optional(found->second);
  };
  int applied_ = 0;
  int told_ = 0;
};

TEST_F(LiveConfigTest, AnAbsentFileMeansTheDefaults) {
  const auto config = Make();
  EXPECT_THAT(config->Start(), IsEmpty());
  EXPECT_EQ(config->current().config->http.port, 7433);
  EXPECT_THAT(config->current().tools, IsEmpty());
  ASSERT_THAT(config->current().tokens, SizeIs(1));
  EXPECT_TRUE(config->current().tokens[0].Has("exec"));
}

TEST_F(LiveConfigTest, AStartWithProblemsAndNothingFormerNamesThemAll) {
  WriteConfig("tools: {kv: {path: ./tools/kv}, gone: {path: ./tools/gone}, wrong: {path: ./tools/papers}}\n");
  const auto config = Make();
  const auto problems = config->Start();
  ASSERT_THAT(problems, SizeIs(2));
  EXPECT_THAT(Join(problems), HasSubstr("tools.gone.path"));
  EXPECT_THAT(Join(problems), HasSubstr("want \"wrong\" as gateway.yaml calls it, got \"papers\""));
}

TEST_F(LiveConfigTest, AChangeOfTheFileComesIntoForceByItself) {
  WriteConfig("tools: {kv: {path: ./tools/kv}}\n");
  const auto config = Make();
  ASSERT_THAT(config->Start(), IsEmpty());
  config->Watch();
  WriteConfig("tools: {kv: {path: ./tools/kv}, papers: {path: ./tools/papers}}\n");
  EXPECT_TRUE(StepUntil([&] { return applied_ == 1; }));
  EXPECT_THAT(ToolNames(*config), ::testing::ElementsAre("kv", "papers"));
}

TEST_F(LiveConfigTest, AChangeInsideAToolsFolderComesIntoForce) {
  WriteConfig("tools: {kv: {path: ./tools/kv}}\n");
  const auto config = Make();
  ASSERT_THAT(config->Start(), IsEmpty());
  config->Watch();
  home_.Write("tools/kv/tool.yaml", ToolYaml("kv", "Now better"));
  EXPECT_TRUE(StepUntil([&] { return applied_ == 1; }));
  EXPECT_EQ(config->current().tools[0]->description, "Now better");
}

TEST_F(LiveConfigTest, WithAnyProblemTheWholeFormerSetStays) {
  WriteConfig("tools: {kv: {path: ./tools/kv}}\naudit: {sync: none}\n");
  const auto config = Make();
  ASSERT_THAT(config->Start(), IsEmpty());
  config->Watch();
  // One good change and one bad tool: neither counts.
  WriteConfig("tools: {kv: {path: ./tools/kv}, gone: {path: ./tools/gone}}\naudit: {sync: each}\n");
  EXPECT_TRUE(StepUntil([&] { return told_ == 1; }));
  EXPECT_EQ(applied_, 0);
  EXPECT_EQ(config->current().config->audit_sync, AuditSync::kNone);
  ASSERT_THAT(config->problems(), SizeIs(1));
  EXPECT_THAT(config->problems()[0], HasSubstr("tools.gone.path"));
  // The missing folder appears: the same file is good now.
  home_.Write("tools/gone/tool.yaml", ToolYaml("gone"));
  EXPECT_TRUE(StepUntil([&] { return applied_ == 1; }));
  EXPECT_EQ(config->current().config->audit_sync, AuditSync::kEach);
  EXPECT_THAT(config->problems(), IsEmpty());
}

TEST_F(LiveConfigTest, ASyntaxErrorIsToldOnceWithItsLine) {
  WriteConfig("tools: {}\n");
  const auto config = Make();
  ASSERT_THAT(config->Start(), IsEmpty());
  config->Watch();
  WriteConfig("toolz: {kv: {path: ./tools/kv}}\n");
  EXPECT_TRUE(StepUntil([&] { return told_ == 1; }));
  EXPECT_THAT(config->problems()[0], HasSubstr("gateway.yaml:3"));
  EXPECT_THAT(config->problems()[0], HasSubstr("did you mean tools"));
  // The slow poll tries again and finds the same: not told again.
  for (int i = 0; i < 12; ++i) loop_.RunOnce(milliseconds(50));
  EXPECT_EQ(told_, 1);
}

TEST_F(LiveConfigTest, AFileThatVanishesForAMomentIsNotTakenForAnEmptyOne) {
  WriteConfig("tools: {kv: {path: ./tools/kv}}\n");
  const auto config = Make();
  ASSERT_THAT(config->Start(), IsEmpty());
  config->Watch();
  ASSERT_TRUE(RemoveFile(paths_.GatewayYaml()));
  for (int i = 0; i < 2; ++i) loop_.RunOnce(milliseconds(30));
  WriteConfig("tools: {kv: {path: ./tools/kv}}\naudit: {sync: none}\n");
  EXPECT_TRUE(StepUntil([&] { return applied_ == 1; }));
  EXPECT_THAT(ToolNames(*config), ::testing::ElementsAre("kv"));
  // Gone for good, it means the defaults.
  ASSERT_TRUE(RemoveFile(paths_.GatewayYaml()));
  EXPECT_TRUE(StepUntil([&] { return applied_ == 2; }));
  EXPECT_THAT(config->current().tools, IsEmpty());
}

TEST_F(LiveConfigTest, AListenAddressIsNotReloadedAndThatIsSaid) {
  WriteConfig("http: {listen: 127.0.0.1:0}\n");
  const auto config = Make();
  ASSERT_THAT(config->Start(), IsEmpty());
  config->Watch();
  WriteConfig("http: {listen: 127.0.0.1:9999}\ntools: {kv: {path: ./tools/kv}}\n");
  EXPECT_TRUE(StepUntil([&] { return applied_ == 1; }));
  EXPECT_EQ(config->current().config->http.port, 0);
  EXPECT_THAT(ToolNames(*config), ::testing::ElementsAre("kv"));
  ASSERT_THAT(config->problems(), SizeIs(1));
  EXPECT_THAT(config->problems()[0], HasSubstr("127.0.0.1:9999 takes effect when the gateway is started again"));
}

TEST_F(LiveConfigTest, ARestartWithABrokenFileGoesOnWithWhatWasLastValid) {
  WriteConfig("tools: {kv: {path: ./tools/kv}}\n");
  ASSERT_THAT(Make()->Start(), IsEmpty());
  WriteConfig("tools: [oops\n");
  const auto config = Make();
  EXPECT_THAT(config->Start(), IsEmpty());
  EXPECT_THAT(ToolNames(*config), ::testing::ElementsAre("kv"));
  EXPECT_THAT(config->problems(), Not(IsEmpty()));
  config->Watch();
  WriteConfig("tools: {papers: {path: ./tools/papers}}\n");
  EXPECT_TRUE(StepUntil([&] { return applied_ == 1; }));
  EXPECT_THAT(config->problems(), IsEmpty());
}

TEST_F(LiveConfigTest, SecretsAreNeitherInProblemsNorInWhatIsKeptForARestart) {
  variables_["KV_TOKEN"] = "hunter2";
  home_.Write("tools/kv/tool.yaml", ToolYaml("kv") + "secrets: {KV_TOKEN: \"${KV_TOKEN}\"}\n");
  WriteConfig("tools: {kv: {path: ./tools/kv}}\n");
  const auto config = Make();
  ASSERT_THAT(config->Start(), IsEmpty());
  EXPECT_EQ(config->current().tools[0]->secrets.at("KV_TOKEN").Reveal(), "hunter2");
  EXPECT_THAT(*ReadFile(paths_.DataGateway() + "/last-good-config.json"), Not(HasSubstr("hunter2")));
  variables_.clear();
  home_.Write("tools/kv/tool.yaml", ToolYaml("kv", "again") + "secrets: {KV_TOKEN: \"${KV_TOKEN}\"}\n");
  EXPECT_FALSE(config->ReloadIfChanged());
  EXPECT_THAT(config->problems()[0], HasSubstr("KV_TOKEN"));
}

TEST_F(LiveConfigTest, ASkillThatChangesIsHandedOnAgain) {
  home_.Write("skills/typst/SKILL.md", "one");
  WriteConfig("skills: {typst: {path: ./skills/typst}}\n");
  const auto config = Make();
  ASSERT_THAT(config->Start(), IsEmpty());
  config->Watch();
  home_.Write("skills/typst/SKILL.md", "two");
  EXPECT_TRUE(StepUntil([&] { return applied_ == 1; }));
}

TEST_F(LiveConfigTest, TokensComeFromTheirFilesAndAShortOneIsAProblem) {
  home_.Write("ci-token", "0123456789abcdef0123456789abcdef\n", 0600);
  WriteConfig("http: {tokens: [{name: ci, file: ./ci-token, scopes: [read]}]}\n");
  const auto config = Make();
  ASSERT_THAT(config->Start(), IsEmpty());
  ASSERT_THAT(config->current().tokens, SizeIs(1));
  EXPECT_FALSE(config->current().tokens[0].Has("exec"));
  home_.Write("ci-token", "short\n", 0600);
  EXPECT_FALSE(config->ReloadIfChanged());
  ASSERT_THAT(config->problems(), SizeIs(1));
  EXPECT_THAT(config->problems()[0], HasSubstr("token ci: want at least 16 characters"));
  EXPECT_THAT(config->problems()[0], Not(HasSubstr("short\n")));
}

TEST(DefaultTokenTest, IsMadeOnceAndOnlyTheOwnerCanReadIt) {
  const gateway_test::TempHome home;
  const HomePaths paths = home.paths();
  ASSERT_TRUE(MakeDirs(paths.DataGateway(), 0700));
  ASSERT_TRUE(EnsureDefaultToken(paths));
  const std::string first = *ReadFile(paths.ApiToken());
  EXPECT_EQ(first.size(), 44u);
  struct stat st {};
  ASSERT_EQ(::stat(paths.ApiToken().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  ASSERT_TRUE(EnsureDefaultToken(paths));
  EXPECT_EQ(*ReadFile(paths.ApiToken()), first);
}

TEST_F(LiveConfigTest, AKeyOfAModelProviderIsReadAgainWhenItsFileChanges) {
  home_.Write("key", "first-key\n");
  WriteConfig("llm: {providers: {p: {api: openai-completions, apiKey: {file: key}, models: {m: {}}}}}\n");
  auto config = Make();
  ASSERT_THAT(config->Start(), IsEmpty());
  config->Watch();
  EXPECT_EQ(config->current().config->llm.providers.at("p").api_key.Reveal(), "first-key");
  home_.Write("key", "second-key\n");
  EXPECT_TRUE(StepUntil([&] { return applied_ == 1; }));
  EXPECT_EQ(config->current().config->llm.providers.at("p").api_key.Reveal(), "second-key");
  EXPECT_THAT(ReadFile(paths_.DataGateway() + "/last-good-config.json").value_or(""), Not(HasSubstr("-key"))) << "what is kept names where it is";
}

}  // namespace beige
