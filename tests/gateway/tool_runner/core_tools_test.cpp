#include "gateway/sessions/core_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gateway/sessions/core_tools_answer.h"

namespace beige::sessions {
namespace {
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ErrorOf(std::string_view tool, std::string_view arguments) {
  const auto plan = IsCoreTool(tool) ? PlanCoreTool(tool, arguments) : PlanGrantedTool(arguments);
  return plan ? "" : plan.error().message;
}

TEST(CoreToolsTest, ArgumentsThatDontFitAreNamed) {
  const std::tuple<const char*, std::string, const char*> cases[] = {
      {"read", "", "path: is missing"},
      {"read", "{}", "path: is missing"},
      {"read", "[]", "arguments: want a JSON object"},
      {"read", "{\"path\":", "arguments: want a JSON object, got something that is no JSON"},
      {"read", R"({"path":7})", "path: want a string, got 7"},
      {"read", R"({"path":""})", "path: is empty"},
      {"read", R"({"path":"a\u0000b"})", "path: can't hold a NUL byte"},
      {"read", R"({"path":"a","lines":3})", "lines: no such field; known here: path, offset, limit"},
      {"read", R"({"path":"a","offset":0})", "offset: want an integer from 1"},
      {"read", R"({"path":"a","offset":"1"})", "offset: want an integer"},
      {"read", R"({"path":"a","limit":-5})", "limit: want an integer from 1"},
      {"write", R"({"path":"a"})", "content: is missing"},
      {"write", R"({"path":"a","content":"\ud800"})", "arguments: want a JSON object"},
      {"patch", R"({"path":"a","oldText":"","newText":"x"})", "oldText: is empty; to make a file use write"},
      {"patch", R"({"path":"a","oldText":"x","newText":"x"})", "newText: is the same as oldText"},
      {"exec", R"({"command":""})", "command: is empty"},
      {"exec", R"({"command":"ls","timeout":3601})", "timeout: want an integer from 1 to 3600, got 3601"},
      {"exec", R"({"command":"ls","timeout":0})", "timeout: want an integer from 1 to 3600, got 0"},
      {"exec", R"({"command":")" + std::string(140000, 'x') + "\"}", "command: want at most 131071 bytes"},
      {"kv", R"({"args":"get x"})", "args: want a list of strings"},
      {"kv", R"({"args":["a\u0000"]})", "args[0]: can't hold a NUL byte"},
      {"kv", R"({"query":"x"})", "query: no such field; known here: args, stdin"},
  };
  for (const auto& [tool, arguments, want] : cases) EXPECT_THAT(ErrorOf(tool, arguments), StartsWith(want)) << tool << " " << arguments.substr(0, 100);
}

TEST(CoreToolsTest, WhatIsRecordedIsWhatWasAskedAndWhatRunsHasTheTextsOnStdin) {
  const auto read = PlanCoreTool("read", R"({"path":"-a b","offset":3})");
  ASSERT_TRUE(read);
  EXPECT_THAT(read->args, ElementsAre("path=-a b", "offset=3", "limit=2000"));
  EXPECT_THAT(read->argv, ElementsAre("/beige/bin/beige-sandbox", "core", "read", "-a b", "3", "2000"));
  EXPECT_FALSE(read->has_input);
  EXPECT_EQ(read->timeout, std::chrono::seconds(30));
  const auto patch = PlanCoreTool("patch", R"({"path":"f","oldText":"ab","newText":""})");
  ASSERT_TRUE(patch);
  EXPECT_THAT(patch->argv, ElementsAre("/beige/bin/beige-sandbox", "core", "patch", "f", "2", "0"));
  EXPECT_EQ(patch->input, "ab");
  const auto exec = PlanCoreTool("exec", R"({"command":"echo hi; exit 3","timeout":null})");
  ASSERT_TRUE(exec);
  EXPECT_THAT(exec->argv, ElementsAre("sh", "-c", "echo hi; exit 3"));
  EXPECT_EQ(exec->timeout, std::chrono::seconds(120));
  const auto tool = PlanGrantedTool(R"({"args":["get","a b"],"stdin":""})");
  ASSERT_TRUE(tool);
  EXPECT_THAT(tool->args, ElementsAre("get", "a b"));
  EXPECT_TRUE(tool->has_input);
  EXPECT_FALSE(PlanGrantedTool("{}")->has_input);
}

TEST(CoreToolsTest, OfferedAreTheCoreToolsThenGrantedOnesWithAnotherName) {
  auto kv = std::make_shared<ToolManifest>();
  kv->name = "kv";
  kv->description = "A store";
  kv->usage = {"kv get KEY"};
  auto shadow = std::make_shared<ToolManifest>();
  shadow->name = "read";
  auto dotted = std::make_shared<ToolManifest>();
  dotted->name = "a.b";  // no provider takes it
  const auto offered = ToolRunner::Offered({"exec", "read", "no-such"}, {kv, shadow, dotted});
  ASSERT_EQ(offered.size(), 3u);
  EXPECT_EQ(offered[0].name, "exec");
  EXPECT_EQ(offered[1].name, "read");
  EXPECT_EQ(offered[2].name, "kv");
  EXPECT_THAT(offered[2].description, StartsWith("A store\nkv get KEY"));
  for (const auto& tool : offered) EXPECT_EQ(nlohmann::json::parse(tool.schema)["type"], "object") << tool.name;
}

TEST(CoreToolsTest, BytesThatAreNoUtf8AreReplacedHoweverTheyAreCut) {
  const std::string bytes = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff b\xc3";
  const std::string want = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd b\xef\xbf\xbd";
  for (size_t first = 0; first <= bytes.size(); ++first) {
    for (size_t second = first; second <= bytes.size(); ++second) {
      Utf8Stream stream;
      std::string out = stream.Feed(bytes.substr(0, first));
      EXPECT_EQ(out, ToUtf8(out)) << "a piece is valid by itself";
      out += stream.Feed(bytes.substr(first, second - first));
      out += stream.Feed(bytes.substr(second));
      out += stream.End();
      EXPECT_EQ(out, want) << first << " " << second;
    }
  }
  EXPECT_EQ(ToUtf8(std::string_view("a\0b", 3)), "a\xef\xbf\xbd" "b");
}

TEST(CoreToolsTest, OfALongOutputTheBeginningAndTheEndAreShown) {
  Output output;
  std::string all;
  for (int i = 1; i <= 3000; ++i) all += "line " + std::to_string(i) + "\n";
  for (size_t at = 0; at < all.size(); at += 777) output.Add(std::string_view(all).substr(at, 777));
  EXPECT_FALSE(output.Fits());
  const std::string shown = output.Shown("all of it is in FILE");
  EXPECT_THAT(shown, StartsWith("line 1\nline 2\n"));
  EXPECT_THAT(shown, EndsWith("line 2999\nline 3000\n"));
  EXPECT_THAT(shown, HasSubstr("of " + std::to_string(all.size()) + " bytes left out; all of it is in FILE ...]\n"));
  EXPECT_LT(shown.size(), Output::kShown + 200);
  EXPECT_LE(std::count(shown.begin(), shown.end(), '\n'), 2001);
  EXPECT_EQ(output.gathered(), all);
}

TEST(CoreToolsTest, OutputsOfOneAgentShareWhatTheyMayGather) {
  const auto left = std::make_shared<size_t>(100);
  {
    Output one(left);
    Output two(left);
    one.Add(std::string(80, 'a'));
    two.Add(std::string(80, 'b'));
    EXPECT_EQ(one.gathered().size(), 80u);
    EXPECT_EQ(two.gathered().size(), 20u);
    EXPECT_EQ(two.bytes(), 80u);
    EXPECT_EQ(*left, 0u);
  }
  EXPECT_EQ(*left, 100u);
}

// 8 MiB of these took the core minutes once.
TEST(CoreToolsTest, BytesThatAreNoTextAreReplacedInOnePass) {
  for (const char byte : {'\0', '\xff', '\x80'}) EXPECT_EQ(ToUtf8(std::string(8u << 20, byte)).size(), 3 * (8u << 20));
  std::string mixed;
  for (int i = 0; i < 100'000; ++i) mixed += std::string("a\0\xff" "b", 4);
  EXPECT_EQ(ToUtf8(mixed).size(), 8u * 100'000);
  EXPECT_EQ(ToUtf8(std::string_view("\0x\xc3\xbc\xc3", 5)), "\xef\xbf\xbdx\xc3\xbc\xef\xbf\xbd");
}

TEST(CoreToolsTest, OneLineWithoutEndIsCutToo) {
  Output output;
  output.Add(std::string(40000, 'x') + "END");
  const std::string shown = output.Shown("FILE");
  EXPECT_LT(shown.size(), Output::kShown + 200);
  EXPECT_THAT(shown, EndsWith("xEND"));
  Output small;
  small.Add(std::string(Output::kShown, 'x'));
  EXPECT_TRUE(small.Fits());
  EXPECT_EQ(small.Shown("").size(), Output::kShown);
}

TEST(CoreToolsTest, OutputBeyondWhatIsGatheredKeepsItsEnd) {
  Output output;
  const std::string part(1u << 20, 'y');
  for (int i = 0; i < 9; ++i) output.Add(part);
  for (int i = 0; i < 1000; ++i) output.Add("the end " + std::to_string(i) + "\n");
  EXPECT_EQ(output.gathered().size(), Output::kGathered);
  const std::string shown = output.Shown("FILE");
  EXPECT_LT(shown.size(), Output::kShown + 200);
  EXPECT_THAT(shown, EndsWith("the end 999\n"));
  EXPECT_THAT(shown, HasSubstr("the end 1\n"));
}

TEST(CoreToolsTest, DiffsAreUnifiedLines) {
  EXPECT_EQ(DiffOf("a\nb\nc\nd\ne\n", "a\nb\nX\nd\ne\n", 1), "@@ -1,5 +1,5 @@\n a\n b\n-c\n+X\n d\n e\n");
  EXPECT_EQ(DiffOf("", "x\ny\n", 1), "@@ -0,0 +1,2 @@\n+x\n+y\n");
  EXPECT_EQ(DiffOf("x\n", "", 1), "@@ -1,1 +0,0 @@\n-x\n");
  EXPECT_EQ(DiffOf("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\nsix\n", 1), "@@ -3,4 +3,4 @@\n 3\n 4\n 5\n-6\n+six\n");
  EXPECT_EQ(DiffOf("same\n", "same\n", 1), "");
  EXPECT_EQ(DiffOf("int a;\n", "int b;\n", 40), "@@ -40,1 +40,1 @@\n-int a;\n+int b;\n");
  EXPECT_LT(DiffOf("", std::string(100000, '\n'), 1).size(), 17000u);
}

TEST(CoreToolsTest, AReadSaysWhatIsLeft) {
  ToolPlan plan;
  plan.path = "f";
  EXPECT_EQ(ReadAnswer(plan, "text 1 2 2 0\na\nb").text, "a\nb");
  EXPECT_EQ(ReadAnswer(plan, "text 1 2 9 0\na\nb\n").text, "a\nb\n[lines 1 to 2 of 9; there are more: use offset=3 to go on]");
  EXPECT_EQ(ReadAnswer(plan, "text 5 2 -1 0\na\nb\n").text, "a\nb\n[lines 5 to 6; there are more: use offset=7 to go on]");
  EXPECT_THAT(ReadAnswer(plan, "text 3 1 3 1\nxxx").text, HasSubstr("[line 3 is longer than 50 KB and was cut"));
  EXPECT_EQ(ReadAnswer(plan, "text 1 0 0 0\n").text, "[the file is empty]");
  const ToolOutcome behind = ReadAnswer(plan, "text 9 0 3 0\n");
  EXPECT_TRUE(behind.is_error);
  EXPECT_EQ(behind.text, "offset: 9 is behind the end; the file has 3 lines");
  const ToolOutcome image = ReadAnswer(plan, "image image/png\n\x89PNG");
  ASSERT_EQ(image.images.size(), 1u);
  EXPECT_EQ(image.images[0].media_type, "image/png");
  EXPECT_EQ(image.images[0].bytes, "\x89PNG");
}

// The program that answers may have been stopped, traced or fooled by its neighbours in the sandbox.
TEST(CoreToolsTest, AnswersOutOfFormAreErrors) {
  ToolPlan plan;
  plan.path = "f";
  for (const std::string& out : {std::string(), std::string("text"), std::string("text 1 2 3\nx"), std::string("text a b c d\nx"), std::string("image text/html\nx"),
                                 std::string("text 1 1 1 0\n") + std::string(70000, 'x'), std::string("patched 1 5 5\nab"), std::string("patched 1 -1 3\nab"),
                                 std::string("patched 1 9223372036854775807 1\nab"), std::string(5000, 'x'), std::string("replaced x\n")}) {
    EXPECT_TRUE(ReadAnswer(plan, out).is_error) << out.substr(0, 60);
    EXPECT_TRUE(PatchAnswer(plan, out).is_error) << out.substr(0, 60);
    EXPECT_TRUE(WriteAnswer(plan, out).is_error) << out.substr(0, 60);
  }
}

TEST(CoreToolsTest, AnEndIsSaidInWords) {
  CallResult result;
  EXPECT_EQ(CommandAnswer(result, "").text, "[no output; exit code 0]");
  EXPECT_FALSE(CommandAnswer(result, "").is_error);
  result.code = 3;
  EXPECT_EQ(CommandAnswer(result, "out").text, "out\n[exit code 3]");
  EXPECT_TRUE(CommandAnswer(result, "out").is_error);
  result = {BGE_HOW_SIGNALED, 9, "", ""};
  EXPECT_EQ(CommandAnswer(result, "").text, "[no output; ended by signal 9]");
  result = {BGE_HOW_TIMEOUT, 124, "exec: timed out after 2m", ""};
  EXPECT_EQ(CommandAnswer(result, "x\n").text, "x\n[exec: timed out after 2m]");
  result = {BGE_HOW_DENIED, 126, "exec: denied by policy: not in coreTools of agent a", ""};
  EXPECT_EQ(CommandAnswer(result, "").text, "exec: denied by policy: not in coreTools of agent a");
}

}  // namespace
}  // namespace beige::sessions
