#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "api/load.h"
#include "api/reserved_names.h"
#include "tests/api/problems_of.h"
#include "tests/support/temp_dir.h"

namespace beige {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::optional<std::string> Env(const std::string& name) {
  if (name == "KV_TOKEN") return "hunter2";
  if (name == "EMPTY") return "";
  return std::nullopt;
}

class ToolManifestTest : public testing::Test {
 protected:
  ToolManifestTest() { ::chmod(dir_.Write("kv.py", "#!/usr/bin/python3\n").c_str(), 0755); }

  Loaded<ToolManifest> Load(const std::string& text) { return LoadToolManifest(text, dir_ / "tool.yaml", Env); }
  // Problems of a manifest that is right but for these lines; the file's folder is cut.
  std::vector<std::string> ProblemsOf(const std::string& rest, const std::string& name = "kv", const std::string& command = "[./kv.py]") {
    std::vector<std::string> out = Texts(Load("name: " + name + "\ndescription: Keeps small values\ncommand: " + command + "\n" + rest).problems);
    for (std::string& text : out) {
      if (text.starts_with(dir_.path() + "/")) text = text.substr(dir_.path().size() + 1);
    }
    return out;
  }
  ToolManifest Manifest(const std::string& rest, const std::string& name = "kv") {
    const auto loaded = Load("name: " + name + "\ndescription: Keeps small values\ncommand: [./kv.py]\n" + rest);
    EXPECT_THAT(Texts(loaded.problems), IsEmpty());
    return loaded.value.value_or(ToolManifest());
  }

  TempDir dir_;
};

TEST_F(ToolManifestTest, TheShortestOneHasTheDefaultsOfTheStruct) {
  ToolManifest want;
  want.name = "kv";
  want.description = "Keeps small values";
  want.command = {dir_ / "kv.py"};
  want.folder = dir_.path();
  EXPECT_EQ(Manifest(""), want);
}

TEST_F(ToolManifestTest, ReadsEveryField) {
  dir_.Write("secret", "from a file\n");
  const ToolManifest tool = Manifest(R"(usage: ["kv set KEY VALUE", "kv get KEY"]
stdin: false
timeout: 30s
workspace: none
network: host
env: {KV_DIR: "${BEIGE_TOOL_DATA}/x", A: plain, P: "$$5"}
secrets: {KV_TOKEN: "${KV_TOKEN}", HEADER: "Bearer ${KV_TOKEN}", F: {file: ./secret}}
)");
  EXPECT_EQ(tool.usage, (std::vector<std::string>{"kv set KEY VALUE", "kv get KEY"}));
  EXPECT_FALSE(tool.stdin_open);
  EXPECT_EQ(tool.timeout, std::chrono::seconds(30));
  EXPECT_EQ(tool.network, ToolNetwork::kHost);
  EXPECT_EQ(tool.env.at("KV_DIR"), "${BEIGE_TOOL_DATA}/x");
  EXPECT_EQ(tool.secrets.at("KV_TOKEN").Reveal(), "hunter2");
  EXPECT_EQ(tool.secrets.at("HEADER").Reveal(), "Bearer hunter2");
  EXPECT_EQ(tool.secrets.at("F").Reveal(), "from a file");
}

TEST_F(ToolManifestTest, NeedsNameDescriptionAndCommand) {
  EXPECT_THAT(Texts(Load("{}").problems), ElementsAre(HasSubstr("name: is missing"), HasSubstr("description: is missing"), HasSubstr("command: is missing")));
  EXPECT_THAT(Texts(Load("").problems), testing::SizeIs(3));
  EXPECT_THAT(ProblemsOf("", "kv", "[]"), ElementsAre(HasSubstr("command: want at least 1 entry")));
  EXPECT_THAT(ProblemsOf("", "kv", "./kv.py"), ElementsAre(HasSubstr("command: want a list such as [./kv.py], got \"./kv.py\"")));
  EXPECT_THAT(ProblemsOf("", "Kv"), ElementsAre(HasSubstr("tool.yaml:1:7: name: want a name")));
}

TEST_F(ToolManifestTest, TheNameOfAUtilityIsRefusedUnlessItMayShadow) {
  for (const char* name : {"git", "ls", "sh", "test", "exec", "cd"}) EXPECT_THAT(ProblemsOf("", name), ElementsAre(HasSubstr("is the name of a utility that every sandbox has"))) << name;
  EXPECT_TRUE(Manifest("allowShadow: true", "git").allow_shadow);
  EXPECT_THAT(ProblemsOf("", "gitx"), IsEmpty());
  EXPECT_TRUE(std::ranges::is_sorted(kReservedToolNames));
}

TEST_F(ToolManifestTest, TheProgramMustBeThereAndExecutable) {
  dir_.Write("plain", "x");
  EXPECT_THAT(ProblemsOf("", "kv", "[./none]"), ElementsAre(HasSubstr("tool.yaml:3:11: command[0]: no such file: " + dir_ / "none")));
  EXPECT_THAT(ProblemsOf("", "kv", "[./plain]"), ElementsAre(HasSubstr("not executable: " + dir_ / "plain" + "; chmod +x it")));
  EXPECT_THAT(ProblemsOf("", "kv", "[./.]"), testing::SizeIs(1));
  EXPECT_THAT(ProblemsOf("", "kv", "[../kv.py]"), ElementsAre(HasSubstr("want a program in the tool's folder or beneath /usr")));
  EXPECT_THAT(ProblemsOf("", "kv", "[/home/x]"), ElementsAre(HasSubstr("want a program in the tool's folder or beneath /usr")));
  EXPECT_THAT(ProblemsOf("", "kv", "[/usr/bin/env, python3]"), IsEmpty());
  EXPECT_THAT(ProblemsOf("", "kv", "[python3, ./kv.py]"), IsEmpty());  // from the cell's PATH
  EXPECT_THAT(ProblemsOf("", "kv", "[\"\"]"), ElementsAre(HasSubstr("want a program")));
}

TEST_F(ToolManifestTest, SecretsComeFromTheEnvironmentOrAFileAndNeverFromTheManifest) {
  EXPECT_THAT(ProblemsOf("secrets: {A: \"${NOPE}\"}"), ElementsAre("tool.yaml:4:14: secrets.A: the variable NOPE is not set in the gateway's environment"));
  EXPECT_THAT(ProblemsOf("secrets: {A: \"${EMPTY}\"}"), ElementsAre(HasSubstr("the secret is empty")));
  EXPECT_THAT(ProblemsOf("secrets: {A: {file: none}}"), ElementsAre(HasSubstr("No such file")));
  EXPECT_THAT(ProblemsOf("secrets: {A: {file: x, more: y}}"), ElementsAre(HasSubstr("want \"${NAME}\" or {file: PATH}")));
  EXPECT_THAT(ProblemsOf("secrets: {PATH: \"${KV_TOKEN}\"}"), ElementsAre(HasSubstr("PATH is set by Beige")));
  EXPECT_THAT(ProblemsOf("env: {A: x}\nsecrets: {A: \"${KV_TOKEN}\"}"), ElementsAre(HasSubstr("secrets.A: stands under env too")));
}

TEST_F(ToolManifestTest, NoProblemEverShowsASecret) {
  dir_.Write("nul", std::string("hunter2\0x", 9));
  for (const char* secrets : {"{A: hunter2}", "{A: 0777123}", "{A: !hunter2 x}", "{A: [hunter2]}", "{A: {file: 5, x: hunter2}}", "hunter2", "[hunter2]", "{A: \"${KV_TOKEN}$\"}", "{A: \"${KV_TOKEN}${NOPE}\"}",
                              "{A: {file: nul}}", "{A: yes}", "{A: \"$hunter2 ${\"}", "{1x: \"${KV_TOKEN}\"}"}) {
    const std::vector<std::string> problems = ProblemsOf(std::string("secrets: ") + secrets);
    EXPECT_THAT(problems, Not(IsEmpty())) << secrets;
    EXPECT_THAT(problems, testing::Each(testing::AllOf(Not(HasSubstr("hunter2")), Not(HasSubstr("0777123"))))) << secrets;
  }
}

TEST_F(ToolManifestTest, EnvironmentHoldsOnlyWhatTheCellFillsIn) {
  EXPECT_THAT(ProblemsOf("env: {A: \"${HOME}\"}"), ElementsAre(HasSubstr("env.A: ${HOME} is not filled in here, only ${BEIGE_TOOL_DATA} and ${BEIGE_AGENT}")));
  EXPECT_THAT(ProblemsOf("env: {A: \"$x\"}"), ElementsAre(HasSubstr("want ${NAME} for a variable, or $$")));
  EXPECT_THAT(ProblemsOf("env: {BEIGE_X: a, 1a: b}"), ElementsAre(HasSubstr("env.BEIGE_X: BEIGE_X is set by Beige"), HasSubstr("env.1a: want a name")));
}

TEST_F(ToolManifestTest, AWritableWorkspaceBesideASecretOrTheNetworkHasToBeAskedFor) {
  EXPECT_EQ(Manifest("workspace: rw").workspace, ToolWorkspace::kReadWrite);
  EXPECT_EQ(Manifest("workspace: ro\nnetwork: host\nsecrets: {A: \"${KV_TOKEN}\"}").workspace, ToolWorkspace::kReadOnly);
  EXPECT_THAT(ProblemsOf("workspace: rw\nnetwork: host"), ElementsAre(testing::AllOf(HasSubstr("tool.yaml:4:12: workspace: rw together with network: host"), HasSubstr("say acceptsUntrustedFiles: true"))));
  EXPECT_THAT(ProblemsOf("workspace: rw\nsecrets: {A: \"${KV_TOKEN}\"}"), ElementsAre(HasSubstr("workspace: rw together with secrets.A lets files")));
  EXPECT_THAT(ProblemsOf("workspace: rw\nnetwork: host\nsecrets: {A: \"${KV_TOKEN}\"}"), ElementsAre(HasSubstr("secrets.A and network: host")));
  const ToolManifest tool = Manifest("workspace: rw\nnetwork: host\nsecrets: {A: \"${KV_TOKEN}\"}\nacceptsUntrustedFiles: true");
  EXPECT_TRUE(tool.accepts_untrusted_files);
  EXPECT_EQ(tool.workspace, ToolWorkspace::kReadWrite);
}

TEST_F(ToolManifestTest, WhatThisVersionDoesNotHaveIsRefusedWithWords) {
  EXPECT_THAT(ProblemsOf("workspace: write"), ElementsAre(HasSubstr("workspace: want one of none, ro, rw, got \"write\"")));
  EXPECT_THAT(ProblemsOf("network: bridge"), ElementsAre(HasSubstr("network: want one of none, host, got \"bridge\"")));
  EXPECT_THAT(ProblemsOf("timeout: 1ms"), ElementsAre(HasSubstr("timeout: want a duration from 100ms to 1d")));
  EXPECT_THAT(ProblemsOf("timeout: 30"), ElementsAre(HasSubstr("timeout: want a duration")));
  EXPECT_THAT(ProblemsOf("tiemout: 30s"), ElementsAre("tool.yaml:4:1: tiemout: no such field; did you mean timeout?"));
}

}  // namespace
}  // namespace beige
