#include "api/yaml_node.h"

#include <cstdio>
#include <utility>

namespace beige {

const YamlNode* YamlNode::Find(std::string_view key) const {
  for (const YamlField& field : fields) {
    if (field.key == key) return field.value.IsNull() ? nullptr : &field.value;
  }
  return nullptr;
}

YamlNode* YamlNode::Find(std::string_view key) { return const_cast<YamlNode*>(std::as_const(*this).Find(key)); }

const YamlNode& YamlNode::operator[](std::string_view key) const {
  static const YamlNode null;
  const YamlNode* found = Find(key);
  return found != nullptr ? *found : null;
}

std::string Shown(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
    case YamlNode::Kind::kBool:
    case YamlNode::Kind::kInt:
    case YamlNode::Kind::kFloat:
      return node.text.size() > 80 ? node.text.substr(0, 77) + "..." : node.text;
    case YamlNode::Kind::kString:
      break;
  }
  std::string out = "\"";
  for (size_t i = 0; i < node.text.size(); ++i) {
    const char c = node.text[i];
    // Cut only where a character starts.
    if (i >= 76 && (static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      out += "...";
      break;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string PathOf(const std::string& path, std::string_view key) {
  bool simple = !key.empty() && key.size() <= 80;
  for (const char c : key) {
    simple = simple && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_');
  }
  if (simple) return path.empty() ? std::string(key) : path + "." + std::string(key);
  YamlNode quoted;
  quoted.kind = YamlNode::Kind::kString;
  quoted.text = std::string(key);
  return path + "[" + Shown(quoted) + "]";
}

std::string PathOf(const std::string& path, size_t index) { return path + "[" + std::to_string(index) + "]"; }

}  // namespace beige
