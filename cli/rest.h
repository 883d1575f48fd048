#ifndef BEIGE_CLI_REST_H_
#define BEIGE_CLI_REST_H_

#include <chrono>
#include <string>

#include "base/result.h"

namespace beige::cli {

struct HttpAnswer {
  int status = 0;
  std::string body;
};

// One GET of the gateway's HTTP API, e.g. Get("127.0.0.1:7433", "/readyz", "", 2s). `token` "" sends none. Unavailable when nobody answers in time.
Result<HttpAnswer> Get(const std::string& address, const std::string& path, const std::string& token, std::chrono::milliseconds timeout);

}  // namespace beige::cli

#endif
