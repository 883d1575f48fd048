#include "api/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/suggest.h"
#include "api/yaml_reader.h"
#include "tests/api/problems_of.h"

namespace beige {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

YamlNode Node(const std::string& text) {
  YamlStream stream = ReadYaml(text, "s");
  EXPECT_EQ(stream.documents.size(), 1u) << text;
  return stream.documents.empty() ? YamlNode() : std::move(stream.documents[0].root);
}

std::vector<std::string> Check(const std::string& schema, const std::string& document, YamlNode* filled = nullptr) {
  const Result<Schema> compiled = CompileSchema(Node(schema));
  if (!compiled) return {compiled.error().message};
  YamlNode node = Node(document);
  Problems problems("f");
  Validate(*compiled, node, "", problems);
  if (filled != nullptr) *filled = node;
  return Texts(problems.Take());
}

struct Case {
  const char* schema;
  const char* good;
  const char* bad;
  const char* problem;
};

TEST(SchemaTest, ChecksEveryRuleThatItKnows) {
  const Case cases[] = {
      {"{type: integer, minimum: 1, maximum: 9}", "v: 9", "v: 10", "f:1:4: v: want an integer from 1 to 9, got 10"},
      {"{type: integer, minimum: 1}", "v: 1", "v: 0", "f:1:4: v: want an integer from 1, got 0"},
      {"{type: integer}", "v: -1", "v: 1.5", "f:1:4: v: want an integer, got 1.5"},
      {"{type: integer}", "v: 1", "v: '1'", "f:1:4: v: want an integer, got \"1\"; write it without quotes"},
      {"{type: integer}", "v: 1", "v: 99999999999999999999", "f:1:4: v: want an integer, got 99999999999999999999"},
      {"{type: boolean}", "v: false", "v: maybe", "f:1:4: v: want true or false, got \"maybe\""},
      {"{type: string}", "v: x", "v: 1.10", "f:1:4: v: want a text, got 1.10; to mean the text, put it in quotes: \"1.10\""},
      {"{type: string}", "v: ''", "v: [x]", "f:1:4: v: want a text, got a list"},
      {"{type: string, enum: [Retain, Delete]}", "v: Delete", "v: delete", "f:1:4: v: want one of Retain, Delete, got \"delete\"; did you mean Delete?"},
      {"{type: string, maxLength: 3, title: a short text}", "v: äöü", "v: abcd", "f:1:4: v: want a short text, got \"abcd\""},
      {"{type: string, minLength: 1}", "v: a", "v: ''", "f:1:4: v: want a text, got \"\""},
      {"{type: string, maxLength: 9, pattern: '^a+$'}", "v: aa", "v: ab", "f:1:4: v: want a text, got \"ab\""},
      {"{type: array, maxItems: 1, items: {type: integer}}", "v: [1]", "v: [1, 2]", "f:1:4: v: want at most 1 entries, got 2"},
      {"{type: array, minItems: 1, items: {type: integer}}", "v: [1]", "v: []", "f:1:4: v: want at least 1 entry, got 0"},
      {"{type: array, items: {type: integer}}", "v: [1]", "v: [1, x]", "f:1:8: v[1]: want an integer, got \"x\""},
      {"{type: array, items: {type: integer}}", "v: []", "v: [1, ~]", "f:1:8: v[1]: want an integer, got nothing"},
      {"{type: array, items: {type: integer}}", "v: []", "v: 1", "f:1:4: v: want a list, got 1"},
      {"{type: array, x-kubernetes-list-type: set, items: {type: string}}", "v: [a, b]", "v: [a, a]", "f:1:8: v[1]: \"a\" stands twice in the list; the first is at line 1"},
      {"{type: object, additionalProperties: {type: string}}", "v: {a: b, c.d: e}", "v: {c.d: 1}", "f:1:10: v[\"c.d\"]: want a text, got 1; to mean the text, put it in quotes: \"1\""},
      {"{type: object, maxProperties: 1, additionalProperties: {type: string}}", "v: {a: b}", "v: {a: b, c: d}", "f:1:4: v: want at most 1 entries, got 2"},
      {"{type: object, required: [a], properties: {a: {type: integer}}}", "v: {a: 1}", "v: {}", "f:1:4: v.a: is missing; want an integer"},
      {"{x-kubernetes-int-or-string: true, title: cores}", "v: 2", "v: 0.5", "f:1:4: v: want cores, got 0.5; a fraction stands in quotes: \"0.5\""},
      {"{x-kubernetes-int-or-string: true, maxLength: 4, pattern: '^[0-9]+m?$'}", "v: 500m", "v: 5x", "f:1:4: v: want a text, got \"5x\""},
      {"{type: string, format: password, enum: [a]}", "v: a", "v: hunter2", "f:1:4: v: want a, got a value that is not shown"},
  };
  for (const Case& c : cases) {
    const std::string schema = std::string("type: object\nproperties: {v: ") + c.schema + "}";
    EXPECT_THAT(Check(schema, c.good), IsEmpty()) << c.schema;
    EXPECT_THAT(Check(schema, c.bad), ElementsAre(c.problem)) << c.schema;
  }
}

TEST(SchemaTest, SuggestsForUnknownFieldsWhatWasMeant) {
  const std::string schema = "type: object\nproperties: {pidsLimit: {type: integer}, sandbox: {type: object, properties: {image: {type: string}}}, env: {type: string}}";
  EXPECT_THAT(Check(schema, "pidLimit: 1"), ElementsAre("f:1:1: pidLimit: no such field; did you mean pidsLimit?"));
  EXPECT_THAT(Check(schema, "pids_limit: 1"), ElementsAre(HasSubstr("did you mean pidsLimit?")));
  EXPECT_THAT(Check(schema, "environment: 1"), ElementsAre(HasSubstr("did you mean env?")));
  EXPECT_THAT(Check(schema, "image: x"), ElementsAre("f:1:1: image: no such field; did you mean sandbox.image?"));
  EXPECT_THAT(Check(schema, "zzz: x"), ElementsAre("f:1:1: zzz: no such field; known here: pidsLimit, sandbox, env"));
}

TEST(SchemaTest, FillsDefaultsAtEveryDepthAndCountsNullAsAbsent) {
  const std::string schema = "{type: object, properties: {a: {type: object, default: {}, properties: {b: {type: integer, default: 7}}}, c: {type: array, default: []}}}";
  YamlNode filled;
  EXPECT_THAT(Check(schema, "{}", &filled), IsEmpty());
  EXPECT_EQ(filled["a"]["b"].integer, 7);
  EXPECT_THAT(Check(schema, "a:\nc: ~\n", &filled), IsEmpty());
  EXPECT_EQ(filled["a"]["b"].integer, 7);
  EXPECT_EQ(filled["c"].kind, YamlNode::Kind::kList);
  EXPECT_THAT(Check(schema, "a: {b: 8}", &filled), IsEmpty());
  EXPECT_EQ(filled["a"]["b"].integer, 8);
}

TEST(SchemaTest, ASchemaWithARuleThatNobodyChecksDoesNotCompile) {
  EXPECT_FALSE(CompileSchema(Node("{type: string, pattrn: x}")));
  EXPECT_FALSE(CompileSchema(Node("{type: strng}")));
  EXPECT_FALSE(CompileSchema(Node("{type: integer, minimum: low}")));
  EXPECT_FALSE(CompileSchema(Node("{type: string, maxLength: 5, pattern: '('}")));
  EXPECT_FALSE(CompileSchema(Node("{type: string, pattern: 'a'}")));  // would run over texts of any length
}

TEST(SchemaTest, ReportsAtMostAHundredProblems) {
  std::string document = "v:\n";
  for (int i = 0; i < 1000; ++i) document += "- x\n";
  EXPECT_EQ(Check("{type: object, properties: {v: {type: array, items: {type: integer}}}}", document).size(), 100u);
}

TEST(NearestTest, KnowsSwapsCaseAndBeginningsButDoesNotGuessWildly) {
  const std::vector<std::string> words = {"tools", "skills", "egress", "sandbox"};
  EXPECT_EQ(Nearest("tolos", words), "tools");
  EXPECT_EQ(Nearest("TOOLS", words), "tools");
  EXPECT_EQ(Nearest("tool", words), "tools");
  EXPECT_EQ(Nearest("sand-box", words), "sandbox");
  EXPECT_EQ(Nearest("model", words), "");
  EXPECT_EQ(Nearest("x", words), "");
  EXPECT_EQ(Nearest(std::string(100'000, 'x'), words), "");
}

}  // namespace
}  // namespace beige
