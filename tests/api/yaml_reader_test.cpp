#include "api/yaml_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/problems_of.h"

namespace beige {
namespace {

using std::string_literals::operator""s;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Every problem of the text, wherever it was put.
std::vector<std::string> ProblemsIn(const std::string& text) {
  const YamlStream stream = ReadYaml(text, "f");
  std::vector<std::string> out = Texts(stream.problems);
  for (const YamlDocument& document : stream.documents) {
    for (const std::string& problem : Texts(document.problems)) out.push_back(problem);
  }
  return out;
}

YamlNode RootOf(const std::string& text) {
  YamlStream stream = ReadYaml(text, "f");
  EXPECT_THAT(Texts(stream.problems), IsEmpty());
  if (stream.documents.size() != 1) return {};
  EXPECT_THAT(Texts(stream.documents[0].problems), IsEmpty());
  return std::move(stream.documents[0].root);
}

struct Plain {
  const char* text;
  YamlNode::Kind kind;
};

TEST(YamlReaderTest, GivesEveryPlainScalarItsOneType) {
  using Kind = YamlNode::Kind;
  for (const auto& [text, kind] : {Plain{"12", Kind::kInt}, {"-3", Kind::kInt}, {"+5", Kind::kInt}, {"0", Kind::kInt}, {"-0", Kind::kInt}, {"0x1f", Kind::kInt},
                                   {"1.5", Kind::kFloat}, {".5", Kind::kFloat}, {"5.", Kind::kFloat}, {"1e3", Kind::kFloat}, {"00.5", Kind::kFloat},
                                   {"99999999999999999999", Kind::kFloat}, {"true", Kind::kBool}, {"False", Kind::kBool}, {"~", Kind::kNull}, {"null", Kind::kNull},
                                   {"", Kind::kNull}, {"y", Kind::kString}, {"1.2.3", Kind::kString}, {"12ab", Kind::kString}, {"1Gi", Kind::kString}, {"-", Kind::kString},
                                   {"0x", Kind::kString}, {"nan", Kind::kString}, {"12:30", Kind::kString}, {"2026-11-29", Kind::kString}, {"08:00", Kind::kString}}) {
    YamlNode node;
    EXPECT_EQ(ResolvePlain(text, node), "") << text;
    EXPECT_EQ(node.kind, kind) << text;
  }
  EXPECT_EQ(RootOf("a: 0x1f")["a"].integer, 31);
  EXPECT_EQ(RootOf("a: -9223372036854775808")["a"].integer, INT64_MIN);
}

TEST(YamlReaderTest, ATextOfWhichTheParserMakesDocumentsWithoutEndIsRefused) {
  EXPECT_FALSE(ProblemsIn("{\"apiVersion\":\"beige.spec:\nalpha1\",\"\357\273\277d\":\"Ag,ent\",\"metadades[criame\":\"a\"},\"spec\":{}}\":\"Ag,ent\",\"metadata\":{\"Aame\":\"a\"},\"sp").empty());
}

TEST(YamlReaderTest, QuotedScalarsAndBlocksAreText) {
  const YamlNode root = RootOf("a: \"12\"\nb: 'true'\nc: \"null\"\nd: |\n  yes\n  no\ne: >-\n  x\n  y\nf: !!str 12\n");
  EXPECT_EQ(root["a"].text, "12");
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) EXPECT_TRUE(root[key].IsString()) << key;
  EXPECT_EQ(root["d"].text, "yes\nno\n");
  EXPECT_EQ(root["e"].text, "x y");
}

TEST(YamlReaderTest, KnowsWhereEverythingStands) {
  const YamlNode root = RootOf("a:\n  - b: 1\n    c: [2,\n        x]\ntools:\nlast: 1\n");
  const YamlNode& item = root["a"].items[0];
  EXPECT_EQ(std::pair(item["b"].mark.line, item["b"].mark.column), std::pair(2, 8));
  EXPECT_EQ(std::pair(item["c"].items[1].mark.line, item["c"].items[1].mark.column), std::pair(4, 9));
  EXPECT_EQ(root.fields[1].value.mark.line, 5);  // an absent value stands with its key
}

TEST(YamlReaderTest, RefusesScalarsThatReadersOfYamlDisagreeAbout) {
  for (const char* text : {"yes", "No", "ON", "off", "0644", "-012", "0o17", "0b101", "1_000"}) {
    EXPECT_THAT(ProblemsIn("a:\n  b: "s + text), ElementsAre(testing::StartsWith("f:2:6: a.b: "s + text + " is "))) << text;
    EXPECT_THAT(ProblemsIn("a: \""s + text + "\""), IsEmpty()) << text;
  }
  EXPECT_THAT(ProblemsIn("on: 1"), ElementsAre(HasSubstr("f:1:1: on: as a key, on is a boolean")));
}

TEST(YamlReaderTest, RefusesNumbersThatAreNotFinite) {
  for (const char* text : {".nan", ".inf", "-.Inf"}) EXPECT_THAT(ProblemsIn("a: "s + text), ElementsAre(HasSubstr("not a finite number"))) << text;
}

TEST(YamlReaderTest, RefusesDuplicateKeysAtEveryLevelAndNamesTheFirst) {
  EXPECT_THAT(ProblemsIn("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n"),
              ElementsAre("f:4:3: b.c: this key stands twice in one map; the first is at line 3", "f:5:1: a: this key stands twice in one map; the first is at line 1"));
  EXPECT_THAT(ProblemsIn("{\"a\": 1, \"\\u0061\": 2}"), ElementsAre(HasSubstr("stands twice")));
}

TEST(YamlReaderTest, RefusesMergeKeysTagsAndOddKeys) {
  EXPECT_THAT(ProblemsIn("x: &x {a: 1}\ny:\n  <<: *x\n"), ElementsAre("f:3:3: y: merge keys (<<) are not accepted; write the fields out"));
  EXPECT_THAT(ProblemsIn("a: !!python/object:os.system x"), ElementsAre(HasSubstr("tags such as")));
  EXPECT_THAT(ProblemsIn("a: !!int \"3\""), ElementsAre(HasSubstr("tags such as")));
  EXPECT_THAT(ProblemsIn("? [a]\n: 1"), ElementsAre(HasSubstr("a key must be a word")));
  EXPECT_THAT(ProblemsIn("\"<<\": {a: 1}"), IsEmpty());  // in quotes it is a key like any other
}

TEST(YamlReaderTest, FindsTheLineOfAQuoteThatIsNeverClosed) {
  EXPECT_THAT(ProblemsIn("a: 1\nb: \"x\nc: 2\nd: 3\n"), ElementsAre("f:2: a quote that is opened here is never closed"));
  EXPECT_THAT(ProblemsIn("a: 'x\n---\nb: 1\n"), ElementsAre("f:1: a quote that is opened here is never closed"));
  EXPECT_THAT(ProblemsIn("a: \"x\n  y\"\nb: 'it''s\n"), ElementsAre("f:3: a quote that is opened here is never closed"));
  EXPECT_THAT(ProblemsIn("a: \"x\\"), ElementsAre(HasSubstr("never closed")));
}

TEST(YamlReaderTest, EndsAliasBombsAndLoopsQuickly) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 10; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += (k > 0 ? ",*a" : "*a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  EXPECT_THAT(ProblemsIn(bomb), ElementsAre(HasSubstr("more than 20000 values")));
  EXPECT_THAT(ProblemsIn("a: &x [*x]"), ElementsAre(HasSubstr("nested more than 64 levels")));
  EXPECT_THAT(ProblemsIn("a: &x {b: *x}"), ElementsAre(HasSubstr("nested more than 64 levels")));
  const std::string megabyte = "a: &x \"" + std::string(900 << 10, 'x') + "\"\nb: [*x, *x, *x, *x, *x, *x]\n";
  EXPECT_THAT(ProblemsIn(megabyte), ElementsAre(HasSubstr("more than 4 MiB of text")));
  EXPECT_THAT(ProblemsIn("a: &x [1, 2]\nb: *x\n"), IsEmpty());  // an honest alias is fine
}

TEST(YamlReaderTest, SurvivesDeepNesting) {
  for (const char* open : {"[", "{a: ", "- "}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += open;
    EXPECT_EQ(ProblemsIn(deep).size(), 1u) << open;
  }
  std::string blocks;
  for (size_t i = 0; i < 400; ++i) blocks += std::string(i, ' ') + "a:\n";
  EXPECT_THAT(ProblemsIn(blocks), ElementsAre(HasSubstr("nested more than 64 levels")));
}

TEST(YamlReaderTest, RefusesWhatIsNotText) {
  EXPECT_THAT(ProblemsIn("a: 1\nb: x\xff\n"), ElementsAre("f:2:5: byte 0xff is not UTF-8"));
  EXPECT_THAT(ProblemsIn("a: \xed\xa0\x80"), ElementsAre(HasSubstr("not UTF-8")));  // a surrogate
  EXPECT_THAT(ProblemsIn("a: \xc0\xaf"), ElementsAre(HasSubstr("not UTF-8")));      // an overlong slash
  EXPECT_THAT(ProblemsIn("a: b\0c"s), ElementsAre("f:1:5: control character 0x00 in the file"));
  EXPECT_THAT(ProblemsIn("a: b\x1b[31m"), ElementsAre(HasSubstr("control character 0x1b")));
  EXPECT_THAT(ProblemsIn("\xff\xfe" "a\0"s), ElementsAre(HasSubstr("UTF-16")));
  EXPECT_THAT(ProblemsIn("a: \"x\\0y\""), ElementsAre("f:1:4: a: contains a NUL character"));
  EXPECT_FALSE(ProblemsIn("a: \"\\ud800\"").empty());
}

TEST(YamlReaderTest, TakesByteOrderMarksAndWindowsLineEnds) {
  EXPECT_EQ(RootOf("\xef\xbb\xbf" "a: 1")["a"].integer, 1);
  const YamlNode root = RootOf("a: 1\r\nb: |\r\n  x\r\n  y\r\nc: z\r\n");
  EXPECT_EQ(root["b"].text, "x\ny\n");
  EXPECT_EQ(root["c"].text, "z");
  EXPECT_EQ(root["c"].mark.line, 5);
}

TEST(YamlReaderTest, RefusesTabsInTheIndentationOfYamlAndTakesThemInJson) {
  EXPECT_THAT(ProblemsIn("a:\n\tb: 1\n"), ElementsAre("f:2:1: a tab in the indentation; want spaces"));
  EXPECT_EQ(RootOf("{\n\t\"a\": {\n\t\t\"b\": [1,\t2]\n\t}\n}\n")["a"]["b"].items[1].integer, 2);
}

TEST(YamlReaderTest, RefusesMoreThanAMebibyte) {
  EXPECT_THAT(ProblemsIn("a: " + std::string(1 << 20, 'x')), ElementsAre(HasSubstr("want at most 1 MiB")));
}

TEST(YamlReaderTest, ReadsManyDocumentsAndDropsEmptyOnes) {
  EXPECT_EQ(ReadYaml("---\na: 1\n---\n# only a comment\n---\nb: 2\n...\n", "f").documents.size(), 2u);
  for (const char* text : {"", "\n\n", "# nothing\n", "---\n", "---\n---\n", "~"}) {
    const YamlStream stream = ReadYaml(text, "f");
    EXPECT_THAT(stream.documents, IsEmpty()) << text;
    EXPECT_THAT(stream.problems, IsEmpty()) << text;
  }
}

TEST(YamlReaderTest, OneBadDocumentLeavesTheOthersReadable) {
  const YamlStream stream = ReadYaml("a: 1\na: 2\n---\nb: 2\n", "f");
  ASSERT_EQ(stream.documents.size(), 2u);
  EXPECT_EQ(stream.documents[0].problems.size(), 1u);
  EXPECT_THAT(stream.documents[1].problems, IsEmpty());
}

TEST(YamlReaderTest, SaysWhereTheSyntaxIsWrong) {
  EXPECT_THAT(ProblemsIn("a: 1\nb: c: d\n"), ElementsAre(HasSubstr("f:2:5: not valid YAML")));
  EXPECT_THAT(ProblemsIn("a: *nothing\n"), ElementsAre(HasSubstr("f:1:4: not valid YAML")));
  EXPECT_THAT(ProblemsIn("a: {b: 1\n"), ElementsAre(HasSubstr("f:1: not valid YAML: end of map flow not found")));
}

TEST(YamlReaderTest, APrefixOfAFileNeverThrows) {
  const std::string text = "apiVersion: x\nmetadata: {name: \"a1\", l: [1, 'two']}\nspec:\n  a: |\n    b\n  c: &x [1]\n  d: *x\n---\n\"k\": \"\\u00e9\"\n";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const YamlStream stream = ReadYaml(text.substr(0, cut), "f");
    EXPECT_TRUE(stream.problems.empty() || stream.documents.empty()) << cut;
  }
}

}  // namespace
}  // namespace beige
