#ifndef BEIGE_API_SCHEMA_H_
#define BEIGE_API_SCHEMA_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "api/problems.h"
#include "api/yaml_node.h"
#include "base/result.h"

namespace beige {

// A structural schema (apiextensions.k8s.io/v1): the subset that our CRD and the schemas of the configuration files use. Anything else
// in a schema is an error when it is compiled, so that no rule is written down and then silently not checked; the exceptions are
// x-kubernetes-validations (CEL), which only the API server evaluates and which api/agent_rules.cpp says again, and `format`, which is
// carried for whoever decodes the value.
struct Schema {
  enum class Type { kAny, kObject, kArray, kString, kInteger, kBoolean, kIntOrString };
  struct Property;

  Type type = Type::kAny;
  std::string title;        // what is wanted, for messages: "a uid from 1 to 4294967294"
  std::string format;       // "password": the value is never shown
  bool nullable = false;
  bool preserve_unknown = false;
  std::vector<Property> properties;
  std::shared_ptr<const Schema> additional;  // of the values of a map
  std::shared_ptr<const Schema> items;
  std::vector<std::string> required;
  std::vector<std::string> words;            // enum
  std::optional<int64_t> minimum, maximum;
  std::optional<int64_t> min_length, max_length, min_items, max_items, max_properties;  // lengths in characters
  std::optional<std::regex> pattern;
  std::optional<YamlNode> default_value;
  std::vector<std::string> list_map_keys;
  bool is_set = false;  // x-kubernetes-list-type: set

  const Schema* Find(std::string_view property) const;
};

struct Schema::Property {
  std::string name;
  Schema schema;
};

// Error: Invalid, naming the path within the schema.
Result<Schema> CompileSchema(const YamlNode& node);

// Checks `node` and adds every problem that it finds, then fills in defaults. Unknown fields are UnknownField, all else is InvalidSpec.
// A null counts as absent. `path` is that of the node in its document.
void Validate(const Schema& schema, YamlNode& node, const std::string& path, Problems& problems);

}  // namespace beige

#endif
