#ifndef BEIGE_GATEWAY_CONFIG_CONFIG_SET_H_
#define BEIGE_GATEWAY_CONFIG_CONFIG_SET_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/config.h"
#include "api/load.h"
#include "api/paths.h"
#include "api/tokens.h"

namespace beige {

// Everything that the gateway's files say, taken together: it is in force as a whole or not at all.
struct ConfigSet {
  std::shared_ptr<const GatewayConfig> config;
  std::vector<std::shared_ptr<const ToolManifest>> tools;  // sorted by name
  std::vector<ApiToken> tokens;
  std::map<std::string, std::string> texts;  // path -> text of gateway.yaml and each tool.yaml, as read
};

// Text of a file; nullopt = absent.
using TextReader = std::function<Result<std::optional<std::string>>(const std::string& path)>;
TextReader DiskReader();

// gateway.yaml (absent = all defaults), the tool.yaml of every tool that it names, its skills' folders, its tokens. With any problem
// there is no value. Nothing of a secret is in a problem.
Loaded<ConfigSet> LoadConfigSet(const HomePaths& paths, const TextReader& read, const EnvLookup& env);

}  // namespace beige

#endif
