#ifndef BEIGE_API_TOKENS_H_
#define BEIGE_API_TOKENS_H_

#include <string>
#include <vector>

#include "api/config.h"
#include "api/load.h"
#include "api/paths.h"
#include "base/secret.h"

namespace beige {

struct ApiToken {
  std::string name;  // actor of the audit records
  Secret value;
  std::vector<std::string> scopes;
  bool Has(std::string_view scope) const;
};

inline constexpr const char* kDefaultTokenName = "default";

// Makes data/gateway/api-token (0600) when it is missing or empty.
Result<> EnsureDefaultToken(const HomePaths& paths);

// The tokens of `config`, or the default one with every scope when it names none. A file that is absent, empty or short is a problem.
std::vector<ApiToken> LoadTokens(const GatewayConfig& config, const HomePaths& paths, std::vector<Problem>& problems);

}  // namespace beige

#endif
