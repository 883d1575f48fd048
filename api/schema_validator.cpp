#include <map>

#include "api/schema.h"
#include "api/suggest.h"

namespace beige {
namespace {

using Kind = YamlNode::Kind;

std::string Wanted(const Schema& schema) {
  if (!schema.title.empty()) return schema.title;
  const std::string low = schema.minimum ? std::to_string(*schema.minimum) : "";
  const std::string high = schema.maximum ? std::to_string(*schema.maximum) : "";
  switch (schema.type) {
    case Schema::Type::kObject:
      return "a map";
    case Schema::Type::kArray:
      return "a list";
    case Schema::Type::kBoolean:
      return "true or false";
    case Schema::Type::kInteger:
      if (!low.empty() && !high.empty()) return "an integer from " + low + " to " + high;
      if (!low.empty()) return "an integer from " + low;
      return high.empty() ? "an integer" : "an integer up to " + high;
    default:
      break;
  }
  if (schema.words.empty()) return "a text";
  std::string out = schema.words.size() > 1 ? "one of " : "";
  for (size_t i = 0; i < schema.words.size(); ++i) {
    if (i > 0) out += ", ";
    out += schema.words[i].empty() ? "\"\"" : schema.words[i];
  }
  return out;
}

int64_t Characters(const std::string& text) {
  int64_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return n;
}

// Where else in the schema the key would be right: spec.image -> spec.sandbox.image.
std::string Elsewhere(const Schema& schema, const std::string& path, std::string_view key, int depth) {
  if (depth == 0) return "";
  for (const Schema::Property& property : schema.properties) {
    const std::string inner = PathOf(path, property.name);
    if (property.schema.Find(key) != nullptr) return PathOf(inner, key);
    if (std::string found = Elsewhere(property.schema, inner, key, depth - 1); !found.empty()) return found;
  }
  return "";
}

class Validator {
 public:
  explicit Validator(Problems& problems) : problems_(problems) {}

  void Check(const Schema& schema, YamlNode& node, const std::string& path) {
    if (node.IsNull() || problems_.full()) return;
    switch (schema.type) {
      case Schema::Type::kAny:
        return;
      case Schema::Type::kObject:
        return node.IsMap() ? Object(schema, node, path) : Wrong(schema, node, path);
      case Schema::Type::kArray:
        return node.kind == Kind::kList ? Array(schema, node, path) : Wrong(schema, node, path);
      case Schema::Type::kBoolean:
        return node.kind == Kind::kBool ? void() : Wrong(schema, node, path);
      case Schema::Type::kInteger:
        return Integer(schema, node, path);
      case Schema::Type::kString:
        return Text(schema, node, path);
      case Schema::Type::kIntOrString:
        if (node.kind == Kind::kString) return Text(schema, node, path);
        if (node.kind == Kind::kInt) return;
        return Wrong(schema, node, path, node.kind == Kind::kFloat ? "; a fraction stands in quotes: \"" + node.text + "\"" : "");
    }
  }

 private:
  void Wrong(const Schema& schema, const YamlNode& node, const std::string& path, const std::string& hint = "") {
    const bool secret = schema.format == "password";
    problems_.Add(node.mark, path, "want " + Wanted(schema) + ", got " + (secret ? "a value that is not shown" : Shown(node)) + (secret ? "" : hint));
  }

  void Integer(const Schema& schema, const YamlNode& node, const std::string& path) {
    if (node.kind == Kind::kString) {
      const bool digits = !node.text.empty() && node.text.find_first_not_of("0123456789") == std::string::npos;
      return Wrong(schema, node, path, digits ? "; write it without quotes" : "");
    }
    const bool fits = node.kind == Kind::kInt && (!schema.minimum || node.integer >= *schema.minimum) && (!schema.maximum || node.integer <= *schema.maximum);
    if (!fits) Wrong(schema, node, path);
  }

  void Text(const Schema& schema, const YamlNode& node, const std::string& path) {
    if (node.kind == Kind::kInt || node.kind == Kind::kFloat || node.kind == Kind::kBool) {
      return Wrong(schema, node, path, "; to mean the text, put it in quotes: \"" + node.text + "\"");
    }
    if (node.kind != Kind::kString) return Wrong(schema, node, path);
    if (!schema.words.empty()) {
      for (const std::string& word : schema.words) {
        if (word == node.text) return;
      }
      const std::string near = Nearest(node.text, schema.words);
      return Wrong(schema, node, path, near.empty() ? "" : "; did you mean " + near + "?");
    }
    const int64_t length = Characters(node.text);
    if ((schema.min_length && length < *schema.min_length) || (schema.max_length && length > *schema.max_length)) {
      const bool short_enough = length <= 80;
      return Wrong(schema, node, path, short_enough ? "" : " (" + std::to_string(length) + " characters)");
    }
    // The length was checked, so the pattern only ever sees a short text: std::regex recurses and backtracks.
    if (schema.pattern && !std::regex_search(node.text, *schema.pattern)) Wrong(schema, node, path);
  }

  void Array(const Schema& schema, YamlNode& node, const std::string& path) {
    const auto size = static_cast<int64_t>(node.items.size());
    if (schema.max_items && size > *schema.max_items) {
      problems_.Add(node.mark, path, "want at most " + std::to_string(*schema.max_items) + " entries, got " + std::to_string(size));
      return;
    }
    if (schema.min_items && size < *schema.min_items) {
      problems_.Add(node.mark, path, "want at least " + std::to_string(*schema.min_items) + (*schema.min_items == 1 ? " entry" : " entries") + ", got " + std::to_string(size));
    }
    for (size_t i = 0; i < node.items.size(); ++i) {
      const std::string inner = PathOf(path, i);
      if (node.items[i].IsNull()) {
        problems_.Want(node.items[i], inner, schema.items ? Wanted(*schema.items) : "a value");
      } else if (schema.items) {
        Check(*schema.items, node.items[i], inner);
      }
    }
    Unique(schema, node, path);
  }

  void Unique(const Schema& schema, const YamlNode& node, const std::string& path) {
    if (schema.list_map_keys.empty() && !schema.is_set) return;
    std::map<std::string, Mark> seen;
    for (size_t i = 0; i < node.items.size(); ++i) {
      const YamlNode& item = node.items[i];
      const YamlNode& name = schema.is_set ? item : item[schema.list_map_keys[0]];
      if (name.IsNull()) continue;
      const auto [first, is_new] = seen.emplace(name.text, name.mark);
      if (is_new) continue;
      const std::string where = schema.is_set ? PathOf(path, i) : PathOf(PathOf(path, i), schema.list_map_keys[0]);
      problems_.Add(name.mark, where, Shown(name) + " stands twice in the list; the first is at line " + std::to_string(first->second.line));
    }
  }

  void Object(const Schema& schema, YamlNode& node, const std::string& path) {
    if (schema.max_properties && static_cast<int64_t>(node.fields.size()) > *schema.max_properties) {
      problems_.Add(node.mark, path, "want at most " + std::to_string(*schema.max_properties) + " entries, got " + std::to_string(node.fields.size()));
      return;
    }
    for (YamlField& field : node.fields) {
      const std::string inner = PathOf(path, field.key);
      if (const Schema* known = schema.Find(field.key)) {
        Check(*known, field.value, inner);
      } else if (schema.additional) {
        if (field.value.IsNull()) {
          problems_.Add(field.mark, inner, "want " + Wanted(*schema.additional) + ", got nothing");
        } else {
          Check(*schema.additional, field.value, inner);
        }
      } else if (!schema.preserve_unknown) {
        Unknown(schema, field, path);
      }
    }
    for (const std::string& name : schema.required) {
      if (node.Find(name) != nullptr) continue;
      const Schema* missing = schema.Find(name);
      problems_.Add(node.mark, PathOf(path, name), "is missing" + (missing != nullptr ? "; want " + Wanted(*missing) : ""));
    }
    FillDefaults(schema, node, path);
  }

  void FillDefaults(const Schema& schema, YamlNode& node, const std::string& path) {
    for (const Schema::Property& property : schema.properties) {
      if (!property.schema.default_value || node.Find(property.name) != nullptr) continue;
      std::erase_if(node.fields, [&](const YamlField& field) { return field.key == property.name; });  // a null
      YamlField& field = node.fields.emplace_back(YamlField{property.name, node.mark, *property.schema.default_value});
      Check(property.schema, field.value, PathOf(path, property.name));  // fills the defaults within
    }
  }

  void Unknown(const Schema& schema, const YamlField& field, const std::string& path) {
    std::vector<std::string> names;
    for (const Schema::Property& property : schema.properties) names.push_back(property.name);
    std::string message = "no such field";
    if (const std::string elsewhere = Elsewhere(schema, path, field.key, 4); !elsewhere.empty()) {
      message += "; did you mean " + elsewhere + "?";
    } else if (const std::string near = Nearest(field.key, names); !near.empty()) {
      message += "; did you mean " + near + "?";
    } else {
      message += "; known here: ";
      for (size_t i = 0; i < names.size(); ++i) message += (i > 0 ? ", " : "") + names[i];
    }
    problems_.Add(field.mark, PathOf(path, field.key), message, kUnknownField);
  }

  Problems& problems_;
};

}  // namespace

void Validate(const Schema& schema, YamlNode& node, const std::string& path, Problems& problems) { Validator(problems).Check(schema, node, path); }

}  // namespace beige
