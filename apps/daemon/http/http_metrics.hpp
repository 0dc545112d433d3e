#pragma once

#include "daemon/http/http_request_context.hpp"

namespace hpsearch::daemon {

/// The daemon's metrics, in the format that the request accepts.
[[nodiscard]] net::HttpResponse metrics_now(const RequestContext& context, const net::HttpRequest& request);

/// 200 if the daemon accepts all requests; 503 with the checks that fail if it doesn't.
[[nodiscard]] net::HttpResponse readiness_now(const RequestContext& context);

/// Serves --metrics-listen: GET /metrics and /readyz, to anyone.
[[nodiscard]] net::HttpResponse answer_scraper(const RequestContext& context,
                                               const net::HttpRequest& request);

}  // namespace hpsearch::daemon
