// The schema and our validator against an independent implementation of JSON Schema, valijson.
#define VALIJSON_USE_EXCEPTIONS 1

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "api/schemas_compiled.h"
#include "api/yaml_reader.h"
#include "crds/embedded.h"

namespace beige {
namespace {

using nlohmann::json;

json ToJson(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return nullptr;
    case YamlNode::Kind::kBool:
      return node.boolean;
    case YamlNode::Kind::kInt:
      return node.integer;
    case YamlNode::Kind::kFloat:
      return std::stod(node.text);
    case YamlNode::Kind::kString:
      return node.text;
    case YamlNode::Kind::kList: {
      json out = json::array();
      for (const YamlNode& item : node.items) out.push_back(ToJson(item));
      return out;
    }
    case YamlNode::Kind::kMap:
      break;
  }
  json out = json::object();
  for (const YamlField& field : node.fields) out[field.key] = ToJson(field.value);
  return out;
}

YamlNode Parsed(const std::string& text) {
  YamlStream stream = ReadYaml(text, "f");
  EXPECT_EQ(stream.documents.size(), 1u) << text;
  return stream.documents.empty() ? YamlNode() : std::move(stream.documents[0].root);
}

// JSON Schema lets unknown fields pass unless told otherwise; a structural schema prunes them and we refuse them.
void CloseObjects(json& schema) {
  if (!schema.is_object()) return;
  if (schema.contains("properties")) {
    schema["additionalProperties"] = false;
    for (auto& [name, property] : schema["properties"].items()) CloseObjects(property);
  }
  if (schema.contains("items")) CloseObjects(schema["items"]);
}

class SecondOpinion : public testing::Test {
 protected:
  SecondOpinion() {
    const YamlNode crd = Parsed(std::string(AgentCrd()));
    schema_ = ToJson(crd["spec"]["versions"].items.at(0)["schema"]["openAPIV3Schema"]["properties"]["spec"]);
    CloseObjects(schema_);
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft4);
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_), compiled_);
  }

  bool TheySay(const YamlNode& node) {
    const json document = ToJson(node);
    valijson::Validator validator;
    return validator.validate(compiled_, valijson::adapters::NlohmannJsonAdapter(document), nullptr);
  }
  static bool WeSay(YamlNode node) {
    Problems problems("f");
    Validate(*AgentSchema().Find("spec"), node, "", problems);
    return problems.empty();
  }

  json schema_;
  valijson::Schema compiled_;
};

TEST_F(SecondOpinion, BothTakeTheGoodDocuments) {
  for (const char* text : {"{}", "{description: x}", "{tools: [{name: kv}, {name: a.b-c_d}]}", "{operatingMode: Suspended}",
                           "{sandbox: {image: '', imagePullPolicy: Never, securityContext: {runAsUser: 4294967294}, pidsLimit: 16}}",
                           "{sandbox: {resources: {limits: {cpu: 2, memory: 1.5Gi}}}}", "{sandbox: {resources: {limits: {cpu: '0.5', memory: 536870912}}}}",
                           "{sandbox: {env: [{name: A, value: ''}, {name: _b1}]}}", "{sandbox: {volumes: [{name: v, mountPath: /d, readOnly: false, hostPath: {path: /s}}]}}",
                           "{egress: {mode: open}, workspace: {retentionPolicy: Delete}, skills: []}", "{sandbox: {image: 'h.example:5000/a/b-c:1@sha256:0123456789abcdef0123456789abcdef'}}"}) {
    const YamlNode node = Parsed(text);
    EXPECT_TRUE(WeSay(node)) << text;
    EXPECT_TRUE(TheySay(node)) << text;
  }
}

TEST_F(SecondOpinion, BothRefuseTheBadDocuments) {
  for (const char* text : {"[]", "{tols: []}", "{tools: {}}", "{tools: [kv]}", "{tools: [{}]}", "{tools: [{name: Kv}]}", "{tools: [{name: kv, rules: []}]}", "{description: 7}", "{operatingMode: running}",
                           "{sandbox: {pidsLimit: 15}}", "{sandbox: {pidsLimit: 65537}}", "{sandbox: {pidsLimit: 1.5}}", "{sandbox: {pidsLimit: '512'}}", "{sandbox: {securityContext: {runAsUser: 0}}}",
                           "{sandbox: {securityContext: {runAsUser: 4294967295}}}", "{sandbox: {securityContext: {privileged: true}}}", "{sandbox: {resources: {limits: {cpu: 0.5}}}}",
                           "{sandbox: {resources: {limits: {memory: 512m}}}}", "{sandbox: {resources: {limits: {memory: [1]}}}}", "{sandbox: {resources: {requests: {}}}}", "{sandbox: {image: 'a b'}}",
                           "{sandbox: {env: [{value: x}]}}", "{sandbox: {env: [{name: A, value: 1}]}}", "{sandbox: {env: [{name: 1A}]}}", "{sandbox: {volumes: [{name: v, mountPath: /d}]}}",
                           "{sandbox: {volumes: [{name: v, mountPath: d, hostPath: {path: /s}}]}}", "{sandbox: {volumes: [{name: v, mountPath: /d, readOnly: 'no', hostPath: {path: /s}}]}}",
                           "{egress: {mode: public}}", "{egress: none}", "{workspace: {retentionPolicy: Keep}}"}) {
    const YamlNode node = Parsed(text);
    EXPECT_FALSE(WeSay(node)) << text;
    EXPECT_FALSE(TheySay(node)) << text;
  }
}

TEST_F(SecondOpinion, BothCountCharactersNotBytes) {
  std::string umlauts;
  for (int i = 0; i < 4096; ++i) umlauts += "ä";
  const YamlNode fits = Parsed("description: " + umlauts);
  EXPECT_TRUE(WeSay(fits));
  EXPECT_TRUE(TheySay(fits));
  const YamlNode too_long = Parsed("description: " + umlauts + "ä");
  EXPECT_FALSE(WeSay(too_long));
  EXPECT_FALSE(TheySay(too_long));
}

}  // namespace
}  // namespace beige
