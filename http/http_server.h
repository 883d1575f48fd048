#ifndef BEIGE_HTTP_HTTP_SERVER_H_
#define BEIGE_HTTP_HTTP_SERVER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace beige::http {

struct Request {
  std::string method;
  std::string path;   // raw, still percent-encoded, without the query; see DecodeSegment
  std::string query;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  std::string remote;  // address of the peer

  std::string_view Header(std::string_view lower_case_name) const;  // "" when absent
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// One request's answer. Thread-safe; exactly one Reply, or Begin, then Write*, then End. Dropping it unanswered sends 500.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void Reply(Response response) = 0;
  // A chunked stream (server-sent events). Write returns false when the peer has gone or more than the limit waits unsent. What comes
  // along with the head or the end goes out in one piece with it.
  virtual void Begin(Response head, std::string first = {}) = 0;
  virtual bool Write(std::string bytes) = 0;
  virtual void End(std::string last = {}) = 0;
  virtual size_t unsent() const { return 0; }  // bytes of Write that the peer's side of the kernel has not taken yet
  // Runs once, on the server's thread, when the peer has gone before the answer was complete.
  virtual void OnGone(std::function<void()> fn) = 0;
};

using Handler = std::function<void(Request, std::shared_ptr<Responder>)>;  // on the server's thread; must not block

struct Limits {
  size_t header_bytes = 16 << 10;
  size_t body_bytes = 2 << 20;          // 413 beyond
  // Asked when a request's head has come, on the server's thread: its own limit in place of body_bytes.
  std::function<size_t(const Request& head)> body_limit{};
  size_t unsent_bytes = 4 << 20;
  int connections = 512;                // beyond, accepting pauses
  std::chrono::milliseconds request_timeout{30000};  // whole head and body; a slow client is closed
  std::chrono::milliseconds idle_timeout{75000};
};

// HTTP/1.1 on one TCP address, one thread of its own. Built on Asio; Boost.Beast parses, in request_reader.cpp and nowhere else.
class Server {
 public:
  // Conflict, naming the port, when it is taken. Port 0 = any free one.
  static Result<std::unique_ptr<Server>> Start(const std::string& host, uint16_t port, const Limits& limits, Handler handler);
  virtual ~Server() = default;  // stops: closes the listener, lets answers in flight finish for at most 1 s
  virtual uint16_t port() const = 0;
};

// Percent-decodes one path segment; Invalid for broken escapes, NUL, '/' and "..".
Result<std::string> DecodeSegment(std::string_view segment);
std::vector<std::string_view> SplitPath(std::string_view path);

}  // namespace beige::http

#endif
