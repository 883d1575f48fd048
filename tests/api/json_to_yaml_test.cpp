#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/load.h"
#include "api/yaml_reader.h"

namespace beige {
namespace {

using nlohmann::json;

TEST(JsonToYamlTest, LooksAsAPersonWouldWriteIt) {
  EXPECT_EQ(JsonToYaml(R"({"kind":"Agent","number":7,"on":true,"none":null,"e":{},"l":[],"m":{"a b":"x: y","t":"two\nlines\n"},"items":[{"name":"kv","z":[1,2]},"s"]})"),
            "kind: Agent\nnumber: 7\n\"on\": true\nnone: null\ne: {}\nl: []\nm:\n  a b: \"x: y\"\n  t: |\n    two\n    lines\nitems:\n- name: kv\n  z:\n  - 1\n  - 2\n- s\n");
  EXPECT_EQ(JsonToYaml("\"x\""), "x\n");
  EXPECT_EQ(JsonToYaml("[]"), "[]\n");
}

TEST(JsonToYamlTest, EveryTextReadsBackTheSame) {
  const std::string nasty[] = {"", " ", "a", "a ", " a", "yes", "No", "null", "~", "true", "1", "1.5", "0644", "0x1", "-", "- a", "a: b", "a:", ":a", "#a", "a #b", "a#b", "'a'", "\"a\"",
                               "a\nb", "a\n", "a\n\n", "\na", "a\n b\n", "a\n\nb\n", " a\nb", "a \nb", "\t", "a\tb", "a\r\nb", "%a", "@a", "`a", "&a", "*a", "!a", "|", ">", "{a", "[a", "a, b", "?", "? a", "=",
                               "<<", "---", "...", "--- a", "é", "日本\nx", "\x7f", "\xc2\x85", "\xe2\x80\xa8", "\\", "a\\nb", "C:\\x", "2026-11-29", "12:30:45", ".inf", "y", "n", "/a/b:c", std::string(5000, 'x')};
  for (const std::string& text : nasty) {
    const std::string key = text.size() < 1000 ? text : "k2";  // YAML ends a simple key at 1024 characters
    for (const json& value : {json{{"k", text}}, json{{"l", {text, text}}}, json{{"m", {{"k", text}}}}, json::parse("{" + json(key).dump() + ":{" + json(key).dump() + ":1}}")}) {
      const YamlStream stream = ReadYaml(JsonToYaml(value.dump()), "f");
      ASSERT_TRUE(stream.problems.empty()) << value << Join(stream.problems);
      ASSERT_EQ(stream.documents.size(), 1u) << value;
      ASSERT_TRUE(stream.documents[0].problems.empty()) << value << Join(stream.documents[0].problems);
      const YamlField& field = stream.documents[0].root.fields.at(0);
      if (field.key == "k") {
        EXPECT_TRUE(field.value.IsString()) << value;
        EXPECT_EQ(field.value.text, text) << value;
      } else if (field.key == "l") {
        EXPECT_EQ(field.value.items.at(1).text, text) << value;
      } else if (field.key == "m") {
        EXPECT_EQ(field.value.fields.at(0).value.text, text) << value;
      } else {
        EXPECT_EQ(field.key, key) << value;
        EXPECT_EQ(field.value.fields.at(0).key, key) << value;
      }
    }
  }
}

}  // namespace
}  // namespace beige
