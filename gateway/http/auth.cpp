#include "gateway/http/auth.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

namespace beige {
namespace {
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return Lower(x) == Lower(y); });
}

// "name:port", "name", "[v6]:port" -> the name without brackets; "" when it is no host at all.
std::string HostOf(std::string_view authority) {
  std::string host;
  std::string_view rest;
  if (authority.starts_with('[')) {
    const size_t close = authority.find(']');
    if (close == std::string_view::npos) return "";
    host = authority.substr(1, close - 1);
    rest = authority.substr(close + 1);
  } else {
    const size_t colon = authority.find(':');
    host = authority.substr(0, colon);
    rest = colon == std::string_view::npos ? "" : authority.substr(colon);
  }
  if (!rest.empty() && (rest[0] != ':' || rest.find_first_not_of("0123456789", 1) != std::string_view::npos)) return "";
  std::transform(host.begin(), host.end(), host.begin(), Lower);
  if (host.ends_with('.')) host.pop_back();
  return host;
}

bool IsAddress(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 || ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool IsLoopback(const std::string& host) {
  in_addr v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  return host == "localhost" || host == "::1";
}
}  // namespace

void Auth::SetTokens(std::vector<ApiToken> tokens) { tokens_.Set(std::make_shared<const Tokens>(std::move(tokens))); }

std::shared_ptr<const ApiToken> Auth::Find(std::string_view authorization) const {
  const size_t space = authorization.find(' ');
  if (space == std::string_view::npos || !EqualsIgnoringCase(authorization.substr(0, space), "bearer")) return nullptr;
  const size_t start = authorization.find_first_not_of(' ', space);
  if (start == std::string_view::npos) return nullptr;
  const std::string given(authorization.substr(start));
  const std::shared_ptr<const Tokens> tokens = tokens_.Copy();
  const ApiToken* found = nullptr;
  for (const ApiToken& token : *tokens) {
    if (token.value.EqualsConstantTime(given)) found = &token;  // no early end: time tells nothing of the place in the list
  }
  return found == nullptr ? nullptr : std::shared_ptr<const ApiToken>(tokens, found);
}

Result<> Auth::CheckSite(const http::Request& request) const {
  const std::string_view authority = request.Header("host");
  const std::string host = HostOf(authority);
  const bool wildcard = listen_.host == "0.0.0.0" || listen_.host == "::" || listen_.host.empty() || listen_.host == "*";
  if (host.empty() || !(IsLoopback(host) || host == HostOf(listen_.host.find(':') == std::string::npos ? listen_.host : "[" + listen_.host + "]") ||
                        (wildcard && IsAddress(host)))) {
    return Fail(Code::kDenied, "Host \"" + std::string(authority.substr(0, 200)) + "\" is not an address of this API");
  }
  const std::string_view origin = request.Header("origin");
  if (!origin.empty() && !EqualsIgnoringCase(origin, "http://" + std::string(authority))) {
    return Fail(Code::kDenied, "Origin \"" + std::string(origin.substr(0, 200)) + "\" may not use this API");
  }
  if (const std::string_view site = request.Header("sec-fetch-site"); !site.empty() && site != "same-origin" && site != "none") {
    return Fail(Code::kDenied, "cross-site requests may not use this API");
  }
  return {};
}

}  // namespace beige
