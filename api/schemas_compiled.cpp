#include "api/schemas_compiled.h"

#include <stdexcept>

#include "api/agent.h"
#include "api/schemas/embedded.h"
#include "api/yaml_reader.h"
#include "crds/embedded.h"

namespace beige {
namespace {

YamlNode Parsed(std::string_view text, const char* name) {
  YamlStream stream = ReadYaml(text, name);
  if (stream.documents.size() != 1 || !stream.documents[0].problems.empty()) throw std::logic_error(std::string(name) + " is not one YAML document");
  return std::move(stream.documents[0].root);
}

Schema Compiled(const YamlNode& node, const char* name) {
  Result<Schema> schema = CompileSchema(node);
  if (!schema) throw std::logic_error(std::string(name) + ": " + schema.error().message);
  return std::move(*schema);
}

Schema CompiledCrd() {
  const YamlNode crd = Parsed(AgentCrd(), "agents.beige.dev.yaml");
  const YamlNode& versions = crd["spec"]["versions"];
  if (versions.items.size() != 1) throw std::logic_error("agents.beige.dev.yaml: want one version");
  return Compiled(versions.items[0]["schema"]["openAPIV3Schema"], "agents.beige.dev.yaml");
}

Schema CompiledText(std::string_view text, const char* name) { return Compiled(Parsed(text, name), name); }

}  // namespace

const Schema& AgentSchema() {
  static const Schema schema = CompiledCrd();
  return schema;
}

const Schema& AgentMetadataSchema() {
  static const Schema schema = CompiledText(MetadataSchema(), "metadata.yaml");
  return schema;
}

const Schema& GatewayConfigSchema() {
  static const Schema schema = CompiledText(GatewaySchema(), "gateway.yaml");
  return schema;
}

const Schema& OperatorConfigSchema() {
  static const Schema schema = CompiledText(OperatorSchema(), "operator.yaml");
  return schema;
}

const Schema& ToolManifestSchema() {
  static const Schema schema = CompiledText(ToolSchema(), "tool.yaml");
  return schema;
}

bool CheckHeader(const YamlNode& document, const std::string& path, const std::string& kind, Problems& problems) {
  if (!document.IsMap()) {
    problems.Want(document, path, "a document with apiVersion: " + std::string(kApiVersion) + " and kind: " + kind);
    return false;
  }
  bool right = true;
  const auto check = [&](const char* key, const std::string& wanted) {
    const YamlNode* found = document.Find(key);
    if (found == nullptr) {
      problems.Add(document.mark, PathOf(path, key), "is missing; want " + std::string(key) + ": " + wanted);
      right = false;
    } else if (!found->IsString() || found->text != wanted) {
      problems.Want(*found, PathOf(path, key), wanted);
      right = false;
    }
  };
  check("apiVersion", kApiVersion);
  check("kind", kind);
  return right;
}

}  // namespace beige
