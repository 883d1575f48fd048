#ifndef BEIGE_API_CONFIG_READER_H_
#define BEIGE_API_CONFIG_READER_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/config.h"
#include "api/load.h"
#include "api/problems.h"
#include "api/schema.h"
#include "api/yaml_node.h"
#include "base/secret.h"

namespace beige {

// One configuration file on its way into a struct: reads and validates the text, then turns single values into typed ones, each with
// a problem at its own place when it is wrong. A method that reports a problem returns a value that nobody may use.
class ConfigReader {
 public:
  // An empty text is a map without fields. `kind` "" = the file has no apiVersion and kind (tool.yaml).
  ConfigReader(std::string_view text, const std::string& file, const std::string& kind, const Schema& schema, const EnvLookup& env);

  // False when there is nothing worth reading: the problems say why.
  bool readable() const { return readable_; }
  const YamlNode& root() const { return root_; }
  Problems& problems() { return problems_; }
  const std::string& folder() const { return folder_; }  // of the file

  std::string Path(const YamlNode& node, const std::string& path);  // ${NAME} replaced, absolute
  Listen ListenAt(const YamlNode& node, const std::string& path);
  int64_t Bytes(const YamlNode& node, const std::string& path, int64_t minimum);
  int64_t Quantity(const YamlNode& node, const std::string& path, Result<int64_t> (*parse)(std::string_view));
  std::chrono::milliseconds Duration(const YamlNode& node, const std::string& path, std::chrono::milliseconds low, std::chrono::milliseconds high);
  // "${NAME}" or {file: PATH}, never the text itself. Problems say where and why, and never what.
  Secret SecretAt(const YamlNode& node, const std::string& path);
  // Keys of a map that become names of tools or skills.
  void CheckNames(const YamlNode& map, const std::string& path);

 private:
  const EnvLookup& env_;
  std::string folder_;
  Problems problems_;
  YamlNode root_;
  bool readable_ = false;
};

// "127.0.0.1:7433", "[::1]:7433", "localhost:0". The message of an Invalid follows "want ".
Result<Listen> ParseListen(std::string_view text);

bool IsResourceName(std::string_view name);  // of a tool or a skill: [a-z0-9][a-z0-9._-]{0,62}
bool IsVariableName(std::string_view name);  // [A-Za-z_][A-Za-z0-9_]{0,127}

}  // namespace beige

#endif
