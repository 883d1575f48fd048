#ifndef BEIGE_API_YAML_READER_H_
#define BEIGE_API_YAML_READER_H_

#include <string>
#include <string_view>
#include <vector>

#include "api/load.h"
#include "api/yaml_node.h"

namespace beige {

struct YamlDocument {
  YamlNode root;
  std::vector<Problem> problems;  // of this document; the root holds what could be read all the same
};

struct YamlStream {
  std::vector<YamlDocument> documents;  // without empty ones
  std::vector<Problem> problems;        // of the text as a whole: size, encoding, syntax; then there are no documents
};

// Reads YAML (and so JSON) strictly: at most 1 MiB of UTF-8, 20,000 values and 64 levels a document. Refused, each with its position:
// duplicate keys, keys that are no scalars, merge keys, tags, quotes that are not closed, NUL and other control characters, numbers that
// are not finite, and plain scalars that YAML 1.1 and 1.2 read differently (yes, no, on, off, 0644, 0o17, 0b1, 1_000). Never throws.
YamlStream ReadYaml(std::string_view text, const std::string& file);

// What a plain scalar means; sets kind, boolean, integer and text. Returns why it is refused, "" when it is not.
std::string ResolvePlain(const std::string& text, YamlNode& out);

}  // namespace beige

#endif
