#ifndef BEIGE_GATEWAY_HTTP_AUTH_H_
#define BEIGE_GATEWAY_HTTP_AUTH_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/config.h"
#include "base/guarded.h"
#include "base/result.h"
#include "api/tokens.h"
#include "http/http_server.h"

namespace beige {

// Who may use the API. Thread-safe; tokens are swapped whole on a reload.
class Auth {
 public:
  // `listen` is the configured address; it widens what a Host header may name.
  explicit Auth(Listen listen) : listen_(std::move(listen)) {}

  void SetTokens(std::vector<ApiToken> tokens);

  // The token that the Authorization header bears, compared with every configured one in constant time; nullptr when it is none.
  // The pointer keeps the whole former list alive.
  std::shared_ptr<const ApiToken> Find(std::string_view authorization) const;

  // Against a browser that is made to speak to us: Host must be loopback or the configured address (for a wildcard address any IP
  // address), and an Origin must be this very host. Denied otherwise.
  Result<> CheckSite(const http::Request& request) const;

 private:
  using Tokens = std::vector<ApiToken>;
  const Listen listen_;
  Guarded<std::shared_ptr<const Tokens>> tokens_{std::make_shared<const Tokens>()};
};

}  // namespace beige

#endif
