#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "api/schemas_compiled.h"
#include "api/yaml_reader.h"
#include "crds/embedded.h"

namespace beige {
namespace {

YamlNode Crd() {
  YamlStream stream = ReadYaml(AgentCrd(), "crd");
  EXPECT_EQ(stream.documents.size(), 1u);
  EXPECT_TRUE(stream.documents[0].problems.empty());
  return std::move(stream.documents[0].root);
}

// Calls `visit` for every schema within, with its path.
void Walk(const YamlNode& schema, const std::string& path, const std::function<void(const YamlNode&, const std::string&)>& visit) {
  visit(schema, path);
  for (const YamlField& property : schema["properties"].fields) Walk(property.value, path + "." + property.key, visit);
  if (const YamlNode* items = schema.Find("items")) Walk(*items, path + "[]", visit);
  if (const YamlNode* values = schema.Find("additionalProperties")) Walk(*values, path + "{}", visit);
}

TEST(CrdTest, EveryEmbeddedSchemaCompiles) {
  EXPECT_NE(AgentSchema().Find("spec"), nullptr);
  EXPECT_NE(AgentMetadataSchema().Find("name"), nullptr);
  EXPECT_NE(GatewayConfigSchema().Find("tools"), nullptr);
  EXPECT_NE(OperatorConfigSchema().Find("engine"), nullptr);
  EXPECT_NE(ToolManifestSchema().Find("command"), nullptr);
}

TEST(CrdTest, IsTheResourceThatTheApiServerWants) {
  const YamlNode crd = Crd();
  EXPECT_EQ(crd["apiVersion"].text, "apiextensions.k8s.io/v1");
  EXPECT_EQ(crd["metadata"]["name"].text, crd["spec"]["names"]["plural"].text + "." + crd["spec"]["group"].text);
  EXPECT_EQ(crd["spec"]["scope"].text, "Namespaced");
  const YamlNode& version = crd["spec"]["versions"].items.at(0);
  EXPECT_EQ(version["name"].text, "v1alpha1");
  EXPECT_TRUE(version["served"].boolean && version["storage"].boolean);
  EXPECT_TRUE(version["subresources"]["status"].IsMap());
  std::vector<std::string> columns;
  for (const YamlNode& column : version["additionalPrinterColumns"].items) columns.push_back(column["name"].text);
  EXPECT_THAT(columns, testing::ElementsAre("Ready", "Reason", "Image", "Restarts", "Age"));
}

TEST(CrdTest, EveryFieldHasADescriptionAndAType) {
  Walk(Crd()["spec"]["versions"].items.at(0)["schema"]["openAPIV3Schema"], "", [](const YamlNode& schema, const std::string& path) {
    EXPECT_GT(schema["description"].text.size(), 8u) << path;
    EXPECT_TRUE(schema.Find("type") != nullptr || schema["x-kubernetes-int-or-string"].boolean) << path;
  });
}

TEST(CrdTest, ListsAreKeyedAndBoundedAndTextsOfTheSpecAreBounded) {
  const YamlNode crd = Crd();
  const YamlNode& schema = crd["spec"]["versions"].items.at(0)["schema"]["openAPIV3Schema"];
  Walk(schema["properties"]["spec"], "spec", [](const YamlNode& node, const std::string& path) {
    if (node["type"].text == "array") {
      EXPECT_EQ(node["x-kubernetes-list-type"].text, "map") << path;
      EXPECT_GT(node["maxItems"].integer, 0) << path;
      for (const YamlNode& key : node["x-kubernetes-list-map-keys"].items) {
        bool required = false;
        for (const YamlNode& name : node["items"]["required"].items) required = required || name.text == key.text;
        EXPECT_TRUE(required) << path << ": a list's key must be required";
      }
    }
    if (node["type"].text == "string" && node.Find("enum") == nullptr) {
      EXPECT_GT(node["maxLength"].integer, 0) << path;
    }
    // `additionalProperties` would let misspelt fields through.
    EXPECT_EQ(node.Find("x-kubernetes-preserve-unknown-fields"), nullptr) << path;
  });
}

TEST(CrdTest, EveryFieldOfTheSpecThatMayBeAbsentHasADefaultOrIsNullable) {
  // So that `tools:` with nothing behind it means the same to the API server as to us.
  Walk(Crd()["spec"]["versions"].items.at(0)["schema"]["openAPIV3Schema"]["properties"]["spec"], "spec", [](const YamlNode& node, const std::string& path) {
    for (const YamlField& property : node["properties"].fields) {
      bool required = false;
      for (const YamlNode& name : node["required"].items) required = required || name.text == property.key;
      const bool has_default = std::any_of(property.value.fields.begin(), property.value.fields.end(), [](const YamlField& f) { return f.key == "default"; });
      EXPECT_TRUE(required || has_default || property.value["nullable"].boolean) << path << "." << property.key;
    }
  });
}

}  // namespace
}  // namespace beige
