#ifndef BEIGE_RUNTIME_ENGINE_HTTP_H_
#define BEIGE_RUNTIME_ENGINE_HTTP_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/guarded.h"
#include "base/result.h"
#include "http/client/curl_loop.h"
#include "runtime/engine/api_version.h"

namespace beige::runtime::engine {

using http::client::CurlLoop;
using http::client::Ended;
using http::client::Flow;
using http::client::Outcome;
using http::client::Transfer;

// Told once per request that ended: the operation's name, the HTTP status or the reason why there is none ("Unavailable", "Timeout"),
// and how long it took. Called on the requesting thread, for event streams on the engine's own.
using Observer = std::function<void(std::string_view operation, std::string_view code, double seconds)>;

struct Call {
  std::string operation{};  // for metrics and messages: "create", "inspect"
  std::string method = "GET";
  std::string path{};     // without version: "/containers/json?all=1"; build it with Escape()
  std::string body{};     // JSON
  std::string upload{};   // path of a file that is streamed as the body (a tar) instead
  std::chrono::milliseconds deadline{30'000};
  std::chrono::milliseconds idle{0};  // Stream: longest silence; 0 = any
  size_t max_body = 16u << 20;        // Internal beyond; Stream has no bound of its own
};

struct Response {
  int status = 0;
  std::string body;
};

// What /_ping tells.
struct ServerInfo {
  ApiVersion api;      // negotiated
  std::string server;  // header Server: "Docker/20.10.24 (linux)"
  bool libpod = false;
};
ServerInfo ServerInfoOf(ApiVersion api, const Outcome& ping);

struct HttpOptions {
  std::string engine = "docker";  // for messages
  std::string socket;             // path
  std::string start_hint;         // "start it with ..." for an engine that does not answer
  std::chrono::milliseconds ping_deadline{5'000};
  Observer observer;
};

// HTTP over the engine's Unix socket: one thread, kept connections, version negotiated at the first request and again after the engine was
// away. Thread-safe; the blocking calls are refused (Internal) on its own thread, that is inside callbacks of an event stream.
// Errors: NotFound 404, Conflict 409 (and Podman's 500 "already in use"), Invalid 400, Denied 401 and 403, Unavailable 503 and no
// connection, Timeout after the deadline, Internal for other statuses. The text carries the engine's own message.
class EngineHttp {
 public:
  explicit EngineHttp(HttpOptions options);

  // Any status below 400 is a Response (304 too).
  Result<Response> Request(const Call& call);
  Result<Response> Request(const std::string& method, const std::string& path, const std::string& body, std::chrono::milliseconds deadline);

  // Gives the body to `on_chunk`, on the calling thread, as it comes. An error from it ends the exchange and is returned.
  Result<> Stream(const Call& call, const std::function<Result<>(std::string_view)>& on_chunk);

  Result<ServerInfo> Server();  // cached; asks /_ping when unknown

  // For streams that live on the loop: a Transfer for `call` under `target` (with version), and the error of a failed one.
  Transfer Prepare(const Call& call, const std::string& target) const;
  Error Explain(const Call& call, const Outcome& outcome, std::string_view body) const;
  void Forget();  // the next request negotiates again
  void Observe(const Call& call, const Outcome& outcome, std::chrono::steady_clock::time_point since) const;
  CurlLoop& loop() { return loop_; }
  const HttpOptions& options() const { return options_; }

 private:
  Result<Response> RequestOnce(const Call& call, const std::string& target);
  Result<ServerInfo> Ping();

  HttpOptions options_;
  Guarded<std::optional<ServerInfo>> server_;
  CurlLoop loop_;  // last: its thread uses what stands above
};

std::string Escape(std::string_view text);       // for a query value or a path segment
std::string EscapePath(std::string_view text);   // the same, '/', ':' and '@' kept: image references

}  // namespace beige::runtime::engine

#endif
