#include "api/schema.h"

namespace beige {
namespace {

class Compiler {
 public:
  Schema Compile(const YamlNode& node, const std::string& path) {
    Schema out;
    if (!node.IsMap()) Fail(path, "is not a map");
    for (const YamlField& field : node.fields) Field(field, PathOf(path, field.key), out);
    if (out.pattern && !out.max_length) Fail(path, "has a pattern and no maxLength");
    return out;
  }

  const std::string& error() const { return error_; }

 private:
  void Fail(const std::string& path, const std::string& what) {
    if (error_.empty()) error_ = "schema: " + path + " " + what;
  }

  void Field(const YamlField& field, const std::string& path, Schema& out) {
    const std::string& key = field.key;
    const YamlNode& value = field.value;
    if (key == "type") {
      out.type = TypeOf(value.text, path);
    } else if (key == "title") {
      out.title = value.text;
    } else if (key == "format") {
      out.format = value.text;
    } else if (key == "nullable") {
      out.nullable = value.boolean;
    } else if (key == "x-kubernetes-preserve-unknown-fields") {
      out.preserve_unknown = value.boolean;
    } else if (key == "x-kubernetes-int-or-string") {
      out.type = Schema::Type::kIntOrString;
    } else if (key == "properties") {
      for (const YamlField& property : value.fields) out.properties.push_back({property.key, Compile(property.value, PathOf(path, property.key))});
    } else if (key == "additionalProperties") {
      out.additional = std::make_shared<const Schema>(Compile(value, path));
    } else if (key == "items") {
      out.items = std::make_shared<const Schema>(Compile(value, path));
    } else if (key == "required") {
      out.required = Words(value);
    } else if (key == "enum") {
      out.words = Words(value);
    } else if (key == "x-kubernetes-list-map-keys") {
      out.list_map_keys = Words(value);
    } else if (key == "x-kubernetes-list-type") {
      out.is_set = value.text == "set";
    } else if (key == "pattern") {
      try {
        out.pattern = std::regex(value.text, std::regex::ECMAScript | std::regex::optimize);
      } catch (const std::regex_error& e) {
        Fail(path, std::string("is not a pattern: ") + e.what());
      }
    } else if (key == "default") {
      out.default_value = value;
    } else if (std::optional<int64_t>* bound = BoundOf(key, out)) {
      if (value.kind != YamlNode::Kind::kInt) Fail(path, "is not an integer");
      *bound = value.integer;
    } else if (key != "description" && key != "x-kubernetes-validations" && key != "anyOf") {
      Fail(path, "is not understood");
    }
  }

  static std::optional<int64_t>* BoundOf(const std::string& key, Schema& out) {
    if (key == "minimum") return &out.minimum;
    if (key == "maximum") return &out.maximum;
    if (key == "minLength") return &out.min_length;
    if (key == "maxLength") return &out.max_length;
    if (key == "minItems") return &out.min_items;
    if (key == "maxItems") return &out.max_items;
    if (key == "maxProperties") return &out.max_properties;
    return nullptr;
  }

  Schema::Type TypeOf(const std::string& word, const std::string& path) {
    if (word == "object") return Schema::Type::kObject;
    if (word == "array") return Schema::Type::kArray;
    if (word == "string") return Schema::Type::kString;
    if (word == "integer") return Schema::Type::kInteger;
    if (word == "boolean") return Schema::Type::kBoolean;
    Fail(path, "is not a type: " + word);
    return Schema::Type::kAny;
  }

  static std::vector<std::string> Words(const YamlNode& list) {
    std::vector<std::string> out;
    for (const YamlNode& item : list.items) out.push_back(item.text);
    return out;
  }

  std::string error_;
};

}  // namespace

const Schema* Schema::Find(std::string_view property) const {
  for (const Property& candidate : properties) {
    if (candidate.name == property) return &candidate.schema;
  }
  return nullptr;
}

Result<Schema> CompileSchema(const YamlNode& node) {
  Compiler compiler;
  Schema schema = compiler.Compile(node, "");
  if (!compiler.error().empty()) return Fail(Code::kInvalid, compiler.error());
  return schema;
}

}  // namespace beige
