#ifndef BEIGE_GATEWAY_HTTP_METRICS_PAGE_H_
#define BEIGE_GATEWAY_HTTP_METRICS_PAGE_H_

#include "http/http_server.h"

namespace beige {

class GatewayMetrics;

// Answers GET /metrics; on the metrics server's thread.
http::Handler MetricsPage(const GatewayMetrics& metrics);
http::Limits MetricsLimits();

}  // namespace beige

#endif
