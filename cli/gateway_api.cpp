#include "cli/gateway_api.h"

#include <nlohmann/json.hpp>

#include "api/load.h"
#include "base/files.h"
#include "cli/check.h"
#include "cli/processes.h"
#include "cli/rest.h"

namespace beige::cli {

std::string GatewayAddress(const HomePaths& paths, int port) {
  std::string host = "127.0.0.1";
  if (const auto text = ReadFileIfExists(paths.GatewayYaml()); text && *text) {
    if (const auto loaded = LoadGatewayConfig(**text, paths.GatewayYaml(), AnyEnv()); loaded.value) host = loaded.value->http.host;
  }
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port);
}

Result<std::string> GetFromGateway(const HomePaths& paths, const std::string& path) {
  const auto info = ReadGatewayInfo(paths);
  if (!info || !IsRunning(info->pid, kGatewayProcess)) return Fail(Code::kUnavailable, "the gateway of " + paths.home() + " does not run; start it with 'beige up'");
  BEIGE_ASSIGN(std::string token, ReadFile(paths.ApiToken(), 4096));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  BEIGE_ASSIGN(HttpAnswer answer, Get(GatewayAddress(paths, info->http_port), path, token, std::chrono::seconds(5)));
  if (answer.status == 200) return std::move(answer.body);
  const auto error = nlohmann::json::parse(answer.body, nullptr, false);
  std::string why = "status " + std::to_string(answer.status);
  if (error.is_object() && error.contains("error") && error["error"].is_object() && error["error"]["message"].is_string()) why = error["error"]["message"].get<std::string>();
  const bool denied = answer.status == 401 || answer.status == 403;
  return Fail(denied ? Code::kDenied : Code::kUnavailable, "the gateway answers: " + why + (denied ? "; gateway.yaml names tokens of its own, and " + paths.ApiToken() + " is not one of them" : ""));
}

}  // namespace beige::cli
