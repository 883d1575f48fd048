#include "api/tokens.h"

#include <algorithm>

#include "base/files.h"
#include "base/random.h"

namespace beige {
namespace {
constexpr size_t kMaxTokenFile = 4096;
constexpr size_t kMinToken = 16;

std::string Trimmed(std::string text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}
}  // namespace

bool ApiToken::Has(std::string_view scope) const { return std::find(scopes.begin(), scopes.end(), scope) != scopes.end(); }

Result<> EnsureDefaultToken(const HomePaths& paths) {
  BEIGE_ASSIGN(const auto present, ReadFileIfExists(paths.ApiToken(), kMaxTokenFile));
  if (present && !Trimmed(*present).empty()) return {};
  return WriteFileAtomic(paths.ApiToken(), RandomToken() + "\n", 0600);
}

std::vector<ApiToken> LoadTokens(const GatewayConfig& config, const HomePaths& paths, std::vector<Problem>& problems) {
  std::vector<TokenConfig> wanted = config.tokens;
  if (wanted.empty()) wanted.push_back({kDefaultTokenName, paths.ApiToken(), {"read", "prompt", "exec", "approve", "admin"}});
  std::vector<ApiToken> tokens;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const TokenConfig& token = wanted[i];
    const auto problem = [&](std::string message) {
      problems.push_back({paths.GatewayYaml(), 0, 0, "http.tokens[" + std::to_string(i) + "].file", std::move(message), "InvalidSpec"});
    };
    auto text = ReadFile(token.file, kMaxTokenFile);
    if (!text) {
      problem("token " + token.name + ": " + text.error().message);
      continue;
    }
    Secret value(Trimmed(std::move(*text)));
    if (value.Reveal().size() < kMinToken) {
      problem("token " + token.name + ": want at least " + std::to_string(kMinToken) + " characters in " + token.file + ", got " +
              std::to_string(value.Reveal().size()));
      continue;
    }
    const auto same = std::find_if(tokens.begin(), tokens.end(), [&](const ApiToken& t) { return t.value == value; });
    if (same != tokens.end()) {
      problem("tokens " + same->name + " and " + token.name + " have the same value; want each its own");
      continue;
    }
    tokens.push_back({token.name, std::move(value), token.scopes});
  }
  return tokens;
}

}  // namespace beige
