#include "cli/explain.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "api/agent.h"
#include "api/schemas/embedded.h"
#include "api/suggest.h"
#include "api/yaml_node.h"
#include "api/yaml_reader.h"
#include "cli/report.h"
#include "crds/embedded.h"

namespace beige::cli {
namespace {
constexpr size_t kWidth = 100;

struct Document {
  const char* word;  // as the person types it
  const char* kind;
  std::string_view (*text)();
};
constexpr Document kDocuments[] = {
    {"agent", "Agent", AgentCrd}, {"gateway", "GatewayConfig", GatewaySchema}, {"operator", "OperatorConfig", OperatorSchema}, {"tool", "tool.yaml", ToolSchema}};

const Document* Named(std::string word) {
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (word == "agents") word = "agent";
  if (word == "gatewayconfig" || word == "operatorconfig") word.resize(word.size() - 6);
  for (const auto& document : kDocuments) {
    if (word == document.word) return &document;
  }
  return nullptr;
}

std::optional<YamlNode> SchemaOf(const Document& document) {
  YamlStream stream = ReadYaml(document.text(), document.word);
  if (stream.documents.size() != 1) return std::nullopt;
  YamlNode root = std::move(stream.documents[0].root);
  if (document.text != AgentCrd) return root;
  const auto& versions = root["spec"]["versions"].items;
  if (versions.empty()) return std::nullopt;
  return versions[0]["schema"]["openAPIV3Schema"];
}

std::string Text(const YamlNode& node, std::string_view key) {
  const YamlNode* found = node.Find(key);
  return found == nullptr ? "" : found->text;
}

// What a value looks like in YAML: scalars as they stand, lists and maps in one line.
std::string Value(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull: return "null";
    case YamlNode::Kind::kString: return node.text.empty() ? "\"\"" : node.text;
    case YamlNode::Kind::kList: return node.items.empty() ? "[]" : "a list";
    case YamlNode::Kind::kMap: return node.fields.empty() ? "{}" : "a map";
    default: return node.text;
  }
}

// Lists and maps of values are passed through: their fields are those of one entry.
const YamlNode& Inner(const YamlNode& node) {
  const YamlNode* at = &node;
  for (;;) {
    if (const YamlNode* items = at->Find("items")) {
      at = items;
    } else if (const YamlNode* values = at->Find("additionalProperties"); values != nullptr && values->IsMap()) {
      at = values;
    } else {
      return *at;
    }
  }
}

std::string TypeOf(const YamlNode& node) {
  if (node.Find("x-kubernetes-int-or-string") != nullptr) return "integer or string";
  const std::string type = Text(node, "type");
  if (type == "array") return "list of " + (node.Find("items") != nullptr ? TypeOf(node["items"]) : "values");
  if (const YamlNode* values = node.Find("additionalProperties"); values != nullptr && values->IsMap()) return "map of " + TypeOf(*values);
  return type.empty() ? "any" : type;
}

struct Facts {
  std::string type;
  std::string description;
  std::vector<std::pair<std::string, std::string>> lines;  // Default, Values, Range, Wants
};

Facts FactsOf(const YamlNode& node) {
  Facts facts{TypeOf(node), Text(node, "description"), {}};
  if (const YamlNode* value = node.Find("default"); value != nullptr && !(value->IsMap() && value->fields.empty())) facts.lines.emplace_back("Default", Value(*value));
  const YamlNode* words = node.Find("enum");
  if (words == nullptr && node.Find("items") != nullptr) words = node["items"].Find("enum");
  if (words != nullptr) {
    std::string all;
    for (const auto& word : words->items) all += (all.empty() ? "" : ", ") + word.text;
    facts.lines.emplace_back("Values", all);
  }
  const std::string low = Text(node, "minimum"), high = Text(node, "maximum");
  if (!low.empty() || !high.empty()) facts.lines.emplace_back("Range", low + (high.empty() ? " and more" : (low.empty() ? "at most " : " to ") + high));
  if (const std::string title = Text(node, "title"); !title.empty()) facts.lines.emplace_back("Wants", title);
  return facts;
}

bool IsRequired(const YamlNode& parent, const std::string& name) {
  const YamlNode* required = parent.Find("required");
  if (required == nullptr) return false;
  for (const auto& entry : required->items) {
    if (entry.text == name) return true;
  }
  return false;
}

std::string Wrapped(const std::string& text, const std::string& indent) {
  std::string out, line;
  size_t start = 0;
  while (start < text.size()) {
    size_t end = text.find(' ', start);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(start, end - start);
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > kWidth) {
      out += indent + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    start = end + 1;
  }
  return line.empty() ? out : out + indent + line + "\n";
}

nlohmann::ordered_json ToJson(const Facts& facts) {
  nlohmann::ordered_json out{{"type", facts.type}, {"description", facts.description}};
  for (const auto& [key, value] : facts.lines) {
    std::string name = key;
    name[0] = static_cast<char>(name[0] + 32);
    out[name] = value;
  }
  return out;
}

std::vector<std::string> Parts(const std::string& path) {
  std::vector<std::string> parts;
  std::string part;
  bool index = false;
  for (const char c : path + ".") {
    if (c == '[') index = true;
    if (!index && c == '.') {
      parts.push_back(std::move(part));
      part.clear();
    } else if (!index) {
      part += c;
    }
    if (c == ']') index = false;
  }
  return parts;
}

void PrintText(const Document& document, const std::string& path, const Facts& facts, const YamlNode& inner) {
  std::string out = "KIND:     " + std::string(document.kind) + "\n";
  if (document.kind[0] != 't') out += std::string("VERSION:  ") + kApiVersion + "\n";
  out += "FIELD:    " + path + " <" + facts.type + ">\n\n";
  if (!facts.description.empty()) out += "DESCRIPTION:\n" + Wrapped(facts.description, "  ");
  for (const auto& [key, value] : facts.lines) out += "  " + key + ": " + value + "\n";
  const YamlNode* properties = inner.Find("properties");
  if (properties != nullptr && !properties->fields.empty()) {
    out += "\nFIELDS:\n";
    for (const auto& field : properties->fields) {
      const Facts of = FactsOf(field.value);
      out += "  " + field.key + " <" + of.type + ">" + (IsRequired(inner, field.key) ? " required" : "") + "\n" + Wrapped(of.description, "      ");
      for (const auto& [key, value] : of.lines) {
        if (key != "Wants") out += "      " + key + ": " + value + "\n";
      }
    }
  }
  Print(out);
}
}  // namespace

int RunExplain(const Globals& globals, const std::string& path) {
  const std::vector<std::string> parts = Parts(path);
  const Document* document = Named(parts[0]);
  if (document == nullptr) {
    const std::string near = Nearest(parts[0], {"agent", "gateway", "operator", "tool"});
    return Report("explain", kNotFound, "\"" + parts[0] + "\": no such document" + (near.empty() ? "" : " (did you mean " + near + "?)") + "; want agent, gateway, operator or tool, such as agent.spec.sandbox");
  }
  const auto schema = SchemaOf(*document);
  if (!schema) return Report("explain", kFailed, std::string("the schema of ") + document->kind + " can't be read; this is a bug");
  const YamlNode* node = &*schema;
  std::string so_far = document->word;
  for (size_t i = 1; i < parts.size(); ++i) {
    const YamlNode& inner = Inner(*node);
    const YamlNode* properties = inner.Find("properties");
    const YamlNode* next = properties == nullptr ? nullptr : properties->Find(parts[i]);
    if (next == nullptr) {
      std::vector<std::string> names;
      if (properties != nullptr) {
        for (const auto& field : properties->fields) names.push_back(field.key);
      }
      const std::string near = Nearest(parts[i], names);
      std::string all;
      for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
      return Report("explain", kNotFound,
                    so_far + " has no field \"" + parts[i] + "\"" + (near.empty() ? "" : " (did you mean " + so_far + "." + near + "?)") + (names.empty() ? "; it has no fields" : "; its fields are " + all));
    }
    node = next;
    so_far += "." + parts[i];
  }
  const Facts facts = FactsOf(*node);
  const YamlNode& inner = Inner(*node);
  if (!globals.structured()) {
    PrintText(*document, so_far, facts, inner);
    return kDone;
  }
  nlohmann::ordered_json out{{"kind", document->kind}, {"field", so_far}};
  out.update(ToJson(facts));
  if (const YamlNode* properties = inner.Find("properties")) {
    out["fields"] = nlohmann::ordered_json::array();
    for (const auto& field : properties->fields) {
      nlohmann::ordered_json entry{{"name", field.key}, {"required", IsRequired(inner, field.key)}};
      entry.update(ToJson(FactsOf(field.value)));
      out["fields"].push_back(std::move(entry));
    }
  }
  PrintStructured(globals, out.dump(2));
  return kDone;
}

}  // namespace beige::cli
