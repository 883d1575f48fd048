#ifndef BEIGE_CLI_REST_H_
#define BEIGE_CLI_REST_H_

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"

namespace beige::cli {

struct HttpAnswer {
  int status = 0;
  std::string body;
};

// One GET of the gateway's HTTP API, e.g. Get("127.0.0.1:7433", "/readyz", "", 2s). `token` "" sends none. Unavailable when nobody answers in time.
Result<HttpAnswer> Get(const std::string& address, const std::string& path, const std::string& token, std::chrono::milliseconds timeout);

struct HttpRequest {
  std::string method = "GET";
  std::string path;   // already encoded
  std::string token;  // "" = none is sent
  std::string body;   // JSON; "" = none
  std::chrono::milliseconds timeout = std::chrono::seconds(5);  // without a byte from the other side
};

// One request whose answer is read as it comes, by a thread of its own, so that whoever waits for it can wait for a signal or a key as
// well. Destroying it ends it, at whatever it is.
class HttpStream {
 public:
  HttpStream(const std::string& address, const HttpRequest& request);
  ~HttpStream();
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;

  struct Piece {
    int status = 0;     // 0 until the headers are there
    std::string bytes;  // of the body, since the last Take()
    bool ended = false;
    std::string error;  // with `ended`: why the answer is not whole; "" = it is
  };
  int fd() const;  // readable when there is something to take
  Piece Take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace beige::cli

#endif
