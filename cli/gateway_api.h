#ifndef BEIGE_CLI_GATEWAY_API_H_
#define BEIGE_CLI_GATEWAY_API_H_

#include <chrono>
#include <string>
#include <string_view>

#include "api/agent_ref.h"
#include "api/paths.h"
#include "base/result.h"

namespace beige::cli {

// This home's running gateway, and the home's own token for it.
struct GatewayPlace {
  std::string address;  // 127.0.0.1:7433
  std::string token;
};
Result<GatewayPlace> FindGateway(const HomePaths& paths);  // Unavailable when it does not run

// What an answer with another status than 2xx says, as an error for a person.
Error ErrorOf(const HomePaths& paths, int status, const std::string& body);

// The body of GET `path` from this home's running gateway, with the home's own token. Unavailable when it does not run or does not
// answer, Denied and so on as it says.
Result<std::string> GetFromGateway(const HomePaths& paths, const std::string& path);

// One request to it; `body` is JSON or "". `signals` (a signalfd or -1): a signal there takes the request back, Code::kTimeout with the
// text "interrupted", and is left to be read by the caller.
Result<std::string> AskGateway(const HomePaths& paths, const std::string& method, const std::string& path, const std::string& body = "",
                               std::chrono::milliseconds timeout = std::chrono::seconds(10), int signals = -1);

// "/v1/namespaces/NS/agents/NAME", each name encoded.
std::string AgentRoute(const AgentKey& key);
std::string UrlEncoded(std::string_view text);

}  // namespace beige::cli

#endif
