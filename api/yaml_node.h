#ifndef BEIGE_API_YAML_NODE_H_
#define BEIGE_API_YAML_NODE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace beige {

// Where something stands in a file, both from 1; 0 = unknown.
struct Mark {
  int line = 0;
  int column = 0;
};

struct YamlField;

// One value of a document, with every question about types already answered: what JSON could say, and where it stood.
struct YamlNode {
  enum class Kind { kNull, kBool, kInt, kFloat, kString, kList, kMap };

  Kind kind = Kind::kNull;
  Mark mark;
  bool boolean = false;
  int64_t integer = 0;
  std::string text;  // of a string its value, of other scalars what stands in the file
  std::vector<YamlNode> items;
  std::vector<YamlField> fields;  // in the order of the file, no key twice

  bool IsNull() const { return kind == Kind::kNull; }
  bool IsMap() const { return kind == Kind::kMap; }
  bool IsString() const { return kind == Kind::kString; }
  // Field of a map; nullptr when it is absent, null, or this is no map.
  const YamlNode* Find(std::string_view key) const;
  YamlNode* Find(std::string_view key);
  // The same for a field that is there, because the schema requires it or has a default: a null node when it is not.
  const YamlNode& operator[](std::string_view key) const;
};

struct YamlField {
  std::string key;
  Mark mark;
  YamlNode value;
};

// The value as an error message shows it: "text", 12, a list, a map, nothing. Cut at 80 characters.
std::string Shown(const YamlNode& node);

// `path` with a key or an index behind it: spec.tools[1].name, metadata.labels["a.b"].
std::string PathOf(const std::string& path, std::string_view key);
std::string PathOf(const std::string& path, size_t index);

}  // namespace beige

#endif
