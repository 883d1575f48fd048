#include "gateway/http/metrics_page.h"

#include "gateway/http/reply.h"
#include "gateway/metrics/metrics.h"

namespace beige {

http::Handler MetricsPage(const GatewayMetrics& metrics) {
  return [&metrics](http::Request request, std::shared_ptr<http::Responder> responder) {
    if (request.path != "/metrics") return responder->Reply(JsonError(404, "NotFound", "no such page; want /metrics"));
    if (request.method != "GET" && request.method != "HEAD") {
      http::Response response = JsonError(405, "MethodNotAllowed", "want GET");
      response.headers.emplace_back("Allow", "GET, HEAD");
      return responder->Reply(std::move(response));
    }
    http::Response response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = metrics.Render();
    responder->Reply(std::move(response));
  };
}

http::Limits MetricsLimits() {
  http::Limits limits;
  limits.body_bytes = 1024;
  limits.connections = 32;
  limits.request_timeout = std::chrono::seconds(10);
  return limits;
}

}  // namespace beige
