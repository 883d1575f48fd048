#include <algorithm>
#include <map>

#include "api/agent_names.h"
#include "api/agent_rules.h"
#include "api/load.h"
#include "api/problems.h"
#include "api/quantity.h"
#include "api/schema.h"
#include "api/schemas_compiled.h"
#include "api/suggest.h"
#include "api/yaml_reader.h"

namespace beige {
namespace {

// Decoding of a document that has no problems: every type was checked and every default is filled in.

std::vector<NamedRef> NamesOf(const YamlNode& list) {
  std::vector<NamedRef> out;
  for (const YamlNode& item : list.items) out.push_back({item["name"].text});
  return out;
}

std::string ScalarText(const YamlNode& node) { return node.kind == YamlNode::Kind::kInt ? std::to_string(node.integer) : node.text; }

SandboxFields SandboxOf(const YamlNode& node) {
  SandboxFields out;
  out.image = node["image"].text;
  out.image_pull_policy = ValueOf(kPullPolicies, node["imagePullPolicy"].text).value_or(out.image_pull_policy);
  if (const YamlNode* user = node["securityContext"].Find("runAsUser")) out.run_as_user = static_cast<uint32_t>(user->integer);
  const YamlNode& limits = node["resources"]["limits"];
  if (const YamlNode* cpu = limits.Find("cpu")) out.cpu_millis = ParseCpu(ScalarText(*cpu)).value_or(0);
  if (const YamlNode* memory = limits.Find("memory")) out.memory_bytes = ParseMemory(ScalarText(*memory)).value_or(0);
  out.pids_limit = node["pidsLimit"].integer;
  for (const YamlNode& item : node["env"].items) out.env.push_back({item["name"].text, item["value"].text});
  for (const YamlNode& item : node["volumes"].items) {
    out.volumes.push_back({item["name"].text, item["mountPath"].text, item["hostPath"]["path"].text, item["readOnly"].boolean});
  }
  return out;
}

AgentSpec SpecOf(const YamlNode& node) {
  AgentSpec out;
  out.description = node["description"].text;
  out.tools = NamesOf(node["tools"]);
  out.skills = NamesOf(node["skills"]);
  out.core_tools = NamesOf(node["coreTools"]);
  for (const YamlNode& item : node["model"]["choices"].items) out.model_choices.push_back({item["name"].text, item["thinkingLevel"].text});
  out.instructions = node["instructions"].text;
  out.operating_mode = ValueOf(kOperatingModes, node["operatingMode"].text).value_or(out.operating_mode);
  out.sandbox = SandboxOf(node["sandbox"]);
  out.egress_mode = ValueOf(kEgressModes, node["egress"]["mode"].text).value_or(out.egress_mode);
  out.workspace_retention = ValueOf(kRetentionPolicies, node["workspace"]["retentionPolicy"].text).value_or(out.workspace_retention);
  return out;
}

std::optional<AgentKey> KeyOf(const YamlNode& document) {
  const YamlNode& metadata = document["metadata"];
  const YamlNode& name = metadata["name"];
  const YamlNode* space = metadata.Find("namespace");
  // Names that are not valid name nobody: they must never become part of a path.
  if (!name.IsString() || !IsAgentName(name.text)) return std::nullopt;
  if (space == nullptr) return AgentKey{"default", name.text};
  if (!space->IsString() || !IsNamespace(space->text)) return std::nullopt;
  return AgentKey{space->text, name.text};
}

void CheckTop(const YamlNode& document, const std::string& path, Problems& problems) {
  std::vector<std::string> known = {"apiVersion", "kind", "metadata", "spec"};
  for (const YamlField& field : document.fields) {
    // status and local are what `get -o yaml` prints; they say what was, not what is wanted.
    if (field.key == "status" || field.key == "local") continue;
    if (std::find(known.begin(), known.end(), field.key) != known.end()) continue;
    const Schema& schema = AgentSchema();
    const std::string where = PathOf(path, field.key);
    std::string near = schema.Find("spec")->Find(field.key) != nullptr ? PathOf(PathOf(path, "spec"), field.key) : Nearest(field.key, known);
    problems.Add(field.mark, where, near.empty() ? "no such field; known here: apiVersion, kind, metadata, spec" : "no such field; did you mean " + near + "?", kUnknownField);
  }
}

// One Agent, be it a document or an item of a List.
LoadedAgent LoadOne(YamlNode& document, const std::string& path, std::vector<Problem> known, const std::string& file) {
  LoadedAgent out;
  Problems problems(file, std::move(known));
  out.key = KeyOf(document);
  if (CheckHeader(document, path, "Agent", problems)) {
    CheckTop(document, path, problems);
    CheckLabelKeys(document["metadata"]["labels"], PathOf(PathOf(path, "metadata"), "labels"), problems);
    CheckSpecRules(document["spec"], PathOf(path, "spec"), problems);  // before the schema: its words on the same place say more
    for (const char* part : {"metadata", "spec"}) {
      const std::string inner = PathOf(path, part);
      const Schema& schema = part == std::string_view("spec") ? *AgentSchema().Find("spec") : AgentMetadataSchema();
      if (YamlNode* found = document.Find(part)) {
        Validate(schema, *found, inner, problems);
      } else {
        problems.Add(document.mark, inner, "is missing");
      }
    }
  }
  out.problems = problems.Take();
  if (!out.problems.empty()) return out;
  Agent& agent = out.agent.emplace();
  agent.metadata.name = document["metadata"]["name"].text;
  agent.metadata.namespace_ = document["metadata"]["namespace"].text;
  for (const YamlField& label : document["metadata"]["labels"].fields) agent.metadata.labels[label.key] = label.value.text;
  agent.spec = SpecOf(document["spec"]);
  return out;
}

bool IsList(const YamlNode& document) {
  const YamlNode& kind = document["kind"];
  const YamlNode& items = document["items"];
  return items.kind == YamlNode::Kind::kList && (kind.IsNull() || kind.text == "List" || kind.text == "AgentList");
}

}  // namespace

LoadedFile LoadAgents(std::string_view text, const std::string& file) {
  LoadedFile out;
  YamlStream stream = ReadYaml(text, file);
  out.problems = std::move(stream.problems);
  if (!out.problems.empty()) return out;
  out.empty = stream.documents.empty();
  std::map<AgentKey, Mark> seen;
  const auto add = [&](YamlNode& document, const std::string& path, std::vector<Problem> problems) {
    LoadedAgent loaded = LoadOne(document, path, std::move(problems), file);
    if (loaded.key) {
      const Mark mark = document["metadata"]["name"].mark;
      const auto [first, is_new] = seen.emplace(*loaded.key, mark);
      if (!is_new) {
        loaded.agent.reset();
        loaded.problems.push_back({file, mark.line, mark.column, PathOf(path, "metadata") + ".name",
                                   "agent " + loaded.key->ToString() + " stands twice in this file; the first is at line " + std::to_string(first->second.line), kInvalidSpec});
      }
    }
    out.agents.push_back(std::move(loaded));
  };
  for (YamlDocument& document : stream.documents) {
    if (!IsList(document.root)) {
      add(document.root, "", std::move(document.problems));
      continue;
    }
    // What `get -o yaml` prints for several.
    std::vector<YamlNode>& items = document.root.Find("items")->items;
    for (size_t i = 0; i < items.size(); ++i) {
      std::vector<Problem> own;
      for (const Problem& problem : document.problems) {
        if (!problem.path.starts_with("items[") || problem.path.starts_with(PathOf("items", i))) own.push_back(problem);
      }
      add(items[i], PathOf("items", i), std::move(own));
    }
  }
  return out;
}

}  // namespace beige
