#include "cli/gateway_api.h"

#include <poll.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/gateway_address.h"
#include "cli/processes.h"
#include "cli/rest.h"

namespace beige::cli {
namespace {
Code CodeOf(int status) {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422: return Code::kInvalid;
    case 401:
    case 403: return Code::kDenied;
    case 404: return Code::kNotFound;
    case 409: return Code::kConflict;
    case 429: return Code::kExhausted;
    case 500: return Code::kInternal;
    case 504: return Code::kTimeout;
    default: return Code::kUnavailable;
  }
}
}  // namespace

Result<GatewayPlace> FindGateway(const HomePaths& paths) {
  const auto info = ReadGatewayInfo(paths);
  if (!info || !IsRunning(info->pid, kGatewayProcess)) return Fail(Code::kUnavailable, "the gateway of " + paths.home() + " does not run; start it with 'beige up'");
  BEIGE_ASSIGN(std::string token, ReadFile(paths.ApiToken(), 4096));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  return GatewayPlace{GatewayAddress(paths, info->http_port), std::move(token)};
}

Error ErrorOf(const HomePaths& paths, int status, const std::string& body) {
  const auto error = nlohmann::json::parse(body, nullptr, false);
  std::string why = "the gateway answers: status " + std::to_string(status);
  if (error.is_object() && error.contains("error") && error["error"].is_object() && error["error"].contains("message") && error["error"]["message"].is_string()) {
    why = "the gateway answers: " + error["error"]["message"].get<std::string>();
  }
  if (status == 401) why += "; gateway.yaml names tokens of its own, and " + paths.ApiToken() + " is not one of them";
  return {CodeOf(status), why};
}

Result<std::string> GetFromGateway(const HomePaths& paths, const std::string& path) { return AskGateway(paths, "GET", path); }

Result<std::string> AskGateway(const HomePaths& paths, const std::string& method, const std::string& path, const std::string& body, std::chrono::milliseconds timeout,
                               int signals) {
  BEIGE_ASSIGN(const GatewayPlace gateway, FindGateway(paths));
  HttpStream stream(gateway.address, {method, path, gateway.token, body, timeout});
  std::string answer;
  for (;;) {
    pollfd entries[] = {{stream.fd(), POLLIN, 0}, {signals, POLLIN, 0}};
    ::poll(entries, 2, -1);
    if (entries[1].revents != 0) return Fail(Code::kTimeout, "interrupted");
    const auto piece = stream.Take();
    answer += piece.bytes;
    if (!piece.ended) continue;
    if (!piece.error.empty()) return Fail(Code::kUnavailable, method + " http://" + gateway.address + path + ": " + piece.error);
    if (piece.status >= 200 && piece.status < 300) return answer;
    return tl::make_unexpected(ErrorOf(paths, piece.status, answer));
  }
}

std::string UrlEncoded(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if ((u >= '0' && u <= '9') || (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || c == '-' || c == '_' || c == '~') {
      out += c;
    } else {
      // Also a dot: "." and ".." would be taken for steps of the path.
      out += '%';
      out += kHex[u >> 4];
      out += kHex[u & 15];
    }
  }
  return out;
}

std::string AgentRoute(const AgentKey& key) { return "/v1/namespaces/" + UrlEncoded(key.namespace_) + "/agents/" + UrlEncoded(key.name); }

}  // namespace beige::cli
